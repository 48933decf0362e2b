from __future__ import annotations

from typing import Any

import pytest

from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_state import RunState, check_kinds
from rlightning.errors import CheckpointError
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report


class Part:
    """Environments or policies as far as a state concerns them."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.pools = {"boat": None, "car": None}

    def states(self) -> Any:
        return self.value

    def state(self) -> Any:
        return self.value

    def restore(self, value: Any) -> None:
        self.value = value


class Bench:
    def __init__(self, value: str) -> None:
        self.environments, self.policies = Part(f"envs {value}"), Part(f"learner {value}")
        self.progress, self.recorder = TrainingProgress(100), Recorder([])
        self.state = RunState(self.environments, self.policies, self.progress, self.recorder)


def test_all_parts_go_out_and_come_back() -> None:
    ran = Bench("that ran")
    ran.progress.advance(40, 2.0)
    ran.recorder.record(create_iteration_report())
    fresh = Bench("new")
    fresh.state.restore(ran.state.capture())
    assert fresh.environments.value == "envs that ran"
    assert fresh.policies.value == "learner that ran"
    assert (fresh.progress.iteration, fresh.progress.env_steps) == (1, 40)
    assert fresh.recorder.state() == ran.recorder.state()


def test_a_state_of_other_spaces_changes_nothing() -> None:
    fresh = Bench("new")
    state = {**Bench("other").state.capture(), "kinds": ["plane"]}
    with pytest.raises(CheckpointError, match="spaces boat, car, got one of plane"):
        fresh.state.restore(state)
    assert fresh.policies.value == "learner new"


def test_a_state_without_kinds_is_refused() -> None:
    with pytest.raises(CheckpointError, match="unknown ones"):
        check_kinds({}, ["boat"])
    check_kinds({"kinds": ["boat"]}, ["boat"])
