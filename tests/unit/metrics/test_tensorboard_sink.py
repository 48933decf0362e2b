from __future__ import annotations

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rlightning.errors import MetricsError
from rlightning.metrics.recorder import Recorder
from rlightning.metrics.tensorboard_sink import TensorBoardSink
from rlightning.testing.iteration_reports import create_iteration_report


def scalars(folder, tag):
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(event.step, round(event.value, 4)) for event in events.Scalars(tag)]


def test_scalars_lie_over_environment_steps(tmp_path):
    with Recorder([TensorBoardSink(tmp_path / "events")]) as recorder:
        for iteration in (1, 2):
            recorder.record(create_iteration_report(iteration))

    assert scalars(tmp_path / "events", "losses/kl") == [(1000, 0.004), (2000, 0.004)]
    assert scalars(tmp_path / "events", "rollout/episode_return_mean")[0] == (1000, 12.0)
    assert scalars(tmp_path / "events", "routing/tasks/eval-0")[0] == (1000, 5.0)


def test_numbers_that_are_missing_leave_a_gap(tmp_path):
    with Recorder([TensorBoardSink(tmp_path)]) as recorder:
        recorder.record(create_iteration_report(1, algorithm={"kl": float("nan")}))
        recorder.record(create_iteration_report(2))

    assert scalars(tmp_path, "losses/kl") == [(2000, 0.004)]


def test_a_resumed_run_hides_what_lay_beyond_its_checkpoint(tmp_path):
    with Recorder([TensorBoardSink(tmp_path)]) as recorder:
        for iteration in (1, 2, 3):
            recorder.record(create_iteration_report(iteration))
    with Recorder([TensorBoardSink(tmp_path, resumed_at_env_steps=1000)]) as recorder:
        recorder.record(create_iteration_report(2, algorithm={"kl": 0.5}))

    assert scalars(tmp_path, "losses/kl") == [(1000, 0.004), (2000, 0.5)]


def test_recording_before_starting_the_events_is_refused(tmp_path):
    with pytest.raises(MetricsError, match=r"expected start\(\) before record\(\)"):
        Recorder([TensorBoardSink(tmp_path)]).record(create_iteration_report())
