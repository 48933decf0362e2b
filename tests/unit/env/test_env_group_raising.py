"""Environments that raise, in a group whose workers somebody starts anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.group import EnvGroup
from rlightning.errors import EnvironmentFailedError, EnvironmentRaisedError
from rlightning.runtime.base import Task
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.types import ActionBatch

HOUSE = "rlightning.testing.environments:"
ROLLOUT_LENGTH = 4
NUM_ENVS = 3


@pytest.fixture(params=["inline", "threads"])
def runtime(request: pytest.FixtureRequest) -> Iterator[InProcessRuntime]:
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def supervised(runtime: InProcessRuntime, name: str, **kwargs: object) -> EnvGroup:
    """Return a worker of a faulty environment beside one of a sound one."""
    configs = [
        EnvConfig(id=f"{HOUSE}{name}-v0", num_envs=NUM_ENVS, kwargs=kwargs),
        EnvConfig(id=f"{HOUSE}Counting-v0", num_envs=NUM_ENVS),
    ]
    group = EnvGroup(runtime, TaskSubmitter(timeout_seconds=30.0), configs, ROLLOUT_LENGTH, 7)
    group.supervise(restarts_raising=True)
    return group


def collect(runtime: InProcessRuntime, group: EnvGroup) -> list[str]:
    """Step everybody through a fragment; return whose fragments came."""
    zeros = np.zeros(NUM_ENVS, dtype=np.float32)
    for _ in range(ROLLOUT_LENGTH):
        wait_until_done(runtime, group.newest.values())
        for env_id, _ in group.observations():
            answer = ActionBatch(env_id, np.zeros(NUM_ENVS, int), zeros, zeros, 0, "eval-0")
            group.step(env_id, answer)
    return [task.worker_id for task in group.take_fragments()]


def wait_until_done(runtime: InProcessRuntime, tasks: Iterable[Task[Any]]) -> None:
    for task in tasks:
        runtime.wait_any([task], 30.0)


def test_a_worker_whose_environment_raised_is_lost_with_its_answered_steps(
    runtime: InProcessRuntime,
) -> None:
    group = supervised(runtime, "Raising", at_step=3)
    group.reset()
    assert collect(runtime, group) == ["env-1"]
    assert group.dropped_steps() == {"env-0": 2 * NUM_ENVS}
    (lost,) = group.lost()
    assert isinstance(lost.cause, EnvironmentRaisedError)
    told = lost.told_cause()
    assert "step 3: expected an answer, got RuntimeError: the simulator crashed in step" in told
    assert "raised in worker 'env-0', step()" in told
    error = lost.error("there is no more", remedy="repair it")
    assert "got an error of it, and there is no more; cause: EnvironmentRaisedError" in str(error)
    assert error.__cause__ is lost.cause


def test_another_incarnation_takes_its_place(runtime: InProcessRuntime) -> None:
    group = supervised(runtime, "Raising", at_step=7)
    group.reset()
    assert collect(runtime, group) == ["env-0", "env-1"]
    assert collect(runtime, group) == ["env-1"]
    group.lost()[0].handle.kill()
    group.rejoin(runtime.spawn(group.next_spec("env-0")))
    assert collect(runtime, group) == ["env-0", "env-1"]
    assert group.dropped_steps() == {"env-0": 2 * NUM_ENVS}


def test_one_that_raises_in_its_reset_is_lost_without_a_step(runtime: InProcessRuntime) -> None:
    group = supervised(runtime, "Raising", at_reset=1)
    group.reset()
    assert collect(runtime, group) == ["env-1"]
    assert group.dropped_steps() == {}
    assert isinstance(group.lost()[0].cause, EnvironmentRaisedError)


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("NaN", {"at_step": 2}, "step 2: expected a finite observation"),
        ("NaN", {"at_step": 3, "where": "reward"}, "step 3: expected a finite reward"),
        ("WrongShape", {"at_step": 3}, "step 3: expected an observation of shape"),
    ],
)
def test_what_is_wrong_with_its_answers_is_an_error_at_once(
    runtime: InProcessRuntime, name: str, kwargs: dict[str, object], message: str
) -> None:
    group = supervised(runtime, name, **kwargs)
    group.reset()
    with pytest.raises(EnvironmentFailedError, match=message) as caught:
        collect(runtime, group)
    assert not isinstance(caught.value, EnvironmentRaisedError)
    assert group.lost() == []
