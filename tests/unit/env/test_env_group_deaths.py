"""Environment workers that die under supervision, and what the group tells of them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.group import EnvGroup
from rlightning.env.random_streams import RandomStreams
from rlightning.errors import EnvironmentFailedError, TaskTimeoutError, WorkerDiedError
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.types import ActionBatch

COUNTING = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_workers=2, num_envs=3)


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


@pytest.fixture
def group(runtime) -> EnvGroup:
    group = EnvGroup(runtime, TaskSubmitter(timeout_seconds=30.0), [COUNTING], 4, 7)
    group.supervise()
    group.reset()
    return group


def step_all(group: EnvGroup, num_steps: int = 1) -> None:
    for _ in range(num_steps):
        for env_id, task in group.observations():
            request = task.result(30.0)
            zeros = np.zeros(len(request.observation), dtype=np.float32)
            group.step(
                env_id, ActionBatch(env_id, np.zeros(len(zeros), int), zeros, zeros, 0, "eval-0")
            )


def finish_steps(group: EnvGroup) -> None:
    for task in group.newest.values():
        task.result(30.0)


def kill(group: EnvGroup, env_id: str) -> None:
    next(handle for handle in group.handles() if handle.worker_id == env_id).kill()


def restart(runtime: InProcessRuntime, group: EnvGroup, env_id: str) -> None:
    group.rejoin(runtime.spawn(group.next_spec(env_id)))


def test_the_others_go_on_and_answered_steps_of_the_dead_one_are_counted(group) -> None:
    step_all(group, 2)
    finish_steps(group)
    kill(group, "env-0")
    step_all(group, 2)
    (fragment,) = group.take_fragments()
    assert fragment.worker_id == "env-1"
    assert fragment.result().num_steps == 4
    assert group.dropped_steps() == {"env-0": 2 * 3}
    (lost,) = group.lost()
    assert (lost.worker_id, lost.handle.incarnation) == ("env-0", 1)
    assert isinstance(lost.cause, WorkerDiedError)
    assert "env-0" in lost.last_sign


def test_a_full_fragment_that_was_not_handed_out_is_dropped_whole(group) -> None:
    step_all(group, 4)
    finish_steps(group)
    kill(group, "env-0")
    assert [task.worker_id for task in group.take_fragments()] == ["env-1"]
    assert group.dropped_steps() == {"env-0": 4 * 3}


def test_a_fragment_that_was_handed_out_is_not_lost_with_its_worker(group) -> None:
    step_all(group, 4)
    tasks = group.take_fragments()
    kill(group, "env-0")
    assert [lost.worker_id for lost in group.lost()] == ["env-0"]
    assert group.dropped_steps() == {}
    assert [task.result().num_valid for task in tasks] == [12, 12]


def test_a_restarted_worker_begins_with_a_reset_and_counts_anew(runtime, group) -> None:
    step_all(group, 3)
    finish_steps(group)
    kill(group, "env-0")
    step_all(group, 1)
    group.take_fragments()
    restart(runtime, group, "env-0")
    assert group.lost() == []
    assert group.newest["env-0"].result(30.0).observation.tolist() == [[100]] * 3
    step_all(group, 4)
    assert [task.result().num_steps for task in group.take_fragments()] == [4, 4]
    kill(group, "env-0")
    assert [lost.handle.incarnation for lost in group.lost()] == [2]
    assert group.dropped_steps() == {"env-0": 9}


def test_with_all_workers_dead_there_is_nothing_to_take_and_that_is_no_mistake(group) -> None:
    step_all(group, 1)
    finish_steps(group)
    for env_id in group.env_ids:
        kill(group, env_id)
    step_all(group, 3)
    assert group.take_fragments() == []
    assert not group.has_present()
    assert list(group.observations()) == []
    assert group.dropped_steps() == {"env-0": 3, "env-1": 3}


def test_a_dead_worker_has_the_state_with_which_its_next_incarnation_starts(runtime, group) -> None:
    kill(group, "env-1")
    states = group.states()
    assert states["workers"]["env-1"] == {**RandomStreams(7, 1, 2).state(), "incarnation": 2}
    assert group.lost()
    restart(runtime, group, "env-1")
    group.restore(states)
    group.reset()
    step_all(group, 4)
    assert len(group.take_fragments()) == 2


def test_other_errors_are_raised(runtime) -> None:
    raising = EnvConfig(
        id="rlightning.testing.environments:Raising-v0", num_envs=1, kwargs={"at_step": 4}
    )
    group = EnvGroup(runtime, TaskSubmitter(timeout_seconds=30.0), [raising], 4, 0)
    group.supervise()
    group.reset()
    step_all(group, 4)
    with pytest.raises(EnvironmentFailedError, match="step 4"):
        group.take_fragments()


def test_without_supervision_a_death_is_an_error(runtime) -> None:
    group = EnvGroup(runtime, TaskSubmitter(timeout_seconds=30.0), [COUNTING], 4, 0)
    group.reset()
    finish_steps(group)
    kill(group, "env-0")
    for _ in range(4):
        group.take("env-1")
        zeros = np.zeros(3, dtype=np.float32)
        answer = ActionBatch("env-1", np.zeros(3, int), zeros, zeros, 0, "eval-0")
        group.step("env-1", answer)
    first, _ = group.take_fragments()
    with pytest.raises(WorkerDiedError, match="env-0"):
        first.result(30.0)
    with pytest.raises(WorkerDiedError, match="env-0"):
        group.states()


def test_a_dead_worker_does_not_spoil_the_closing(group) -> None:
    kill(group, "env-0")
    group.close()
    assert not any(handle.is_alive() for handle in group.handles())


def test_a_fragment_that_does_not_come_is_an_error_in_time() -> None:
    hanging = EnvConfig(
        id="rlightning.testing.environments:Hanging-v0",
        num_envs=1,
        kwargs={"at_step": 1, "seconds": 30.0, "wait": threading.Event().wait},
    )
    runtime = InProcessRuntime("threads")
    group = EnvGroup(runtime, TaskSubmitter(2, timeout_seconds=0.2), [hanging], 1, 0)
    group.supervise()
    group.reset()
    step_all(group, 1)
    with pytest.raises(TaskTimeoutError, match=r"Hanging-v0' \(env-0\), step 1"):
        group.take_fragments()


def test_a_fragment_that_is_gone_with_its_node_is_dropped_once(group) -> None:
    step_all(group, 4)
    group.take_fragments()
    gone = WorkerDiedError("the fragment is gone", worker_id="env-1")
    assert group.give_up_fragment(gone)
    assert group.dropped_steps() == {"env-1": 4 * 3}
    assert not group.give_up_fragment(gone)
    assert not group.give_up_fragment(WorkerDiedError("somebody else", worker_id="eval-0"))
    assert group.dropped_steps() == {"env-1": 4 * 3}


def test_without_supervision_a_fragment_that_is_gone_is_not_given_up(runtime) -> None:
    group = EnvGroup(runtime, TaskSubmitter(timeout_seconds=30.0), [COUNTING], 1, 7)
    group.reset()
    step_all(group)
    group.take_fragments()
    assert not group.give_up_fragment(WorkerDiedError("gone", worker_id="env-1"))


def test_a_worker_whose_next_action_is_gone_is_lost_though_it_lives(runtime, group) -> None:
    replica = runtime.spawn(WorkerSpec("eval-0", dict))
    replica.kill()
    step_all(group, 2)
    finish_steps(group)
    for env_id, task in group.observations():
        zeros = np.zeros(len(task.result(30.0).observation), dtype=np.float32)
        answer = ActionBatch(env_id, np.zeros(len(zeros), int), zeros, zeros, 0, "eval-0")
        group.step(env_id, replica.call("copy") if env_id == "env-0" else answer)
    with pytest.raises(WorkerDiedError):
        group.newest["env-0"].result(30.0)
    step_all(group, 1)
    assert [task.worker_id for task in group.take_fragments()] == ["env-1"]
    (lost,) = group.lost()
    assert (lost.worker_id, lost.handle.is_alive()) == ("env-0", True)
    assert group.dropped_steps() == {"env-0": 2 * 3}
