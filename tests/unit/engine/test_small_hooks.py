"""The hooks that record, evaluate and save."""

from __future__ import annotations

from typing import Any

import pytest

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.checkpoint_hook import CheckpointHook
from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.evaluation_hook import EvaluationHook
from rlightning.engine.recording_hook import RecordingHook
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report

EVALUATION = EvaluationResult((1.0, 3.0), (10, 20))


def test_an_evaluation_joins_the_report_of_every_third_iteration() -> None:
    hook = EvaluationHook(3, lambda: EVALUATION)
    reports = [hook.iteration_ended(create_iteration_report(number)) for number in range(1, 7)]
    assert [report.evaluation for report in reports] == [
        None, None, {"return_mean": 2.0, "return_std": 1.0, "length_mean": 15.0, "repeats": 0},
    ] * 2  # fmt: skip


def test_without_an_interval_nothing_is_evaluated() -> None:
    def never() -> EvaluationResult:
        raise AssertionError("not asked for")

    report = create_iteration_report(1)
    assert EvaluationHook(0, never).iteration_ended(report) is report


def test_each_report_is_recorded_and_scored_by_the_recent_episodes() -> None:
    hook = RecordingHook(Recorder([]))
    assert hook.score is None
    report = create_iteration_report(1)
    assert hook.iteration_ended(report) is report
    assert hook.score == pytest.approx(12.0), "episodes of 10 and 14"
    hook.iteration_ended(create_iteration_report(2, evaluation={"return_mean": 99.0}))
    assert hook.score == 99.0, "an evaluation says more"


def test_before_the_first_episode_has_ended_there_is_no_score() -> None:
    hook = RecordingHook(Recorder([]))
    hook.iteration_ended(create_iteration_report(1, episodes=()))
    assert hook.score is None


class SavingBench:
    def __init__(self, folder, interval: int) -> None:
        self.store = CheckpointStore(folder, keep=10)
        self.num_captures = 0
        self.hook = CheckpointHook(self.store, interval, self._capture, lambda: 1.5)

    def _capture(self) -> dict[str, Any]:
        self.num_captures += 1
        return {"number": self.num_captures}

    def run(self, num_iterations: int) -> list[int]:
        self.hook.run_started()
        for iteration in range(1, num_iterations + 1):
            self.hook.iteration_ended(create_iteration_report(iteration))
        self.hook.run_ended()
        return [entry.iteration for entry in self.store.entries()]


def test_a_checkpoint_is_written_every_so_often_and_at_the_end(tmp_path) -> None:
    bench = SavingBench(tmp_path, 3)
    assert bench.run(7) == [3, 6, 7]
    assert bench.store.load_latest() == {"number": 3}
    assert bench.store.entries()[-1].score == 1.5


def test_the_last_iteration_is_saved_once(tmp_path) -> None:
    bench = SavingBench(tmp_path, 3)
    assert bench.run(6) == [3, 6]
    assert bench.num_captures == 2


def test_a_run_without_an_iteration_saves_nothing(tmp_path) -> None:
    assert SavingBench(tmp_path, 3).run(0) == []
