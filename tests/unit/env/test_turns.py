from __future__ import annotations

import pytest

from rlightning.env.turns import Turns
from rlightning.errors import EnvironmentFailedError
from rlightning.testing.recorded_worker import RecordedWorker


def _task(env_id: str):
    return RecordedWorker(env_id).call("reset")


def _turns(*env_ids: str) -> Turns:
    turns = Turns()
    for env_id in env_ids:
        turns.expect(env_id, _task(env_id))
    return turns


def test_observations_are_taken_once() -> None:
    turns = _turns("env-0")
    task = turns.newest["env-0"]
    assert turns.take("env-0") is task
    with pytest.raises(
        EnvironmentFailedError, match="env-0 that were not taken yet, got none; ste"
    ):
        turns.take("env-0")


def test_a_round_takes_what_is_there_when_it_begins() -> None:
    turns = _turns("env-0", "env-1")
    seen = []
    for env_id, _ in turns.take_each():
        seen.append(env_id)
        turns.expect(env_id, _task(env_id))
    assert seen == ["env-0", "env-1"]
    assert turns.num_untaken == 2


def test_a_round_that_is_left_early_leaves_the_rest() -> None:
    turns = _turns("env-0", "env-1")
    next(iter(turns.take_each()))
    assert [env_id for env_id, _ in turns.take_each()] == ["env-1"]


def test_B60_a_round_with_nothing_outstanding_is_an_error_and_not_empty() -> None:
    turns = _turns("env-0")
    list(turns.take_each())
    with pytest.raises(EnvironmentFailedError, match="expected observations that were not taken"):
        turns.take_each()
    with pytest.raises(EnvironmentFailedError, match="call reset"):
        Turns().take_each()


def test_observations_that_will_never_come_are_an_error_when_they_are_taken() -> None:
    worker, turns = RecordedWorker("env-0"), Turns()
    turns.expect("env-0", worker.call("step"))
    worker.refuse(EnvironmentFailedError("the simulator crashed"))
    with pytest.raises(EnvironmentFailedError, match="the simulator crashed"):
        turns.take("env-0")


def test_a_step_needs_taken_observations() -> None:
    turns = _turns("env-0")
    with pytest.raises(EnvironmentFailedError, match="got a step before that"):
        turns.check_may_step("env-0")
    turns.take("env-0")
    turns.check_may_step("env-0")


def test_a_step_needs_a_reset_before() -> None:
    with pytest.raises(EnvironmentFailedError, match="got a step before any reset") as caught:
        Turns().check_may_step("env-0")
    assert caught.value.worker_id == "env-0"


def test_after_clearing_a_reset_must_follow() -> None:
    turns = _turns("env-0")
    turns.clear()
    assert dict(turns.newest) == {}
    with pytest.raises(EnvironmentFailedError, match="call reset"):
        turns.take("env-0")
