"""Environment workers that join and leave a group that is being stepped."""

from __future__ import annotations

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.group import EnvGroup
from rlightning.env.random_streams import RandomStreams
from rlightning.env.worker import EnvWorker
from rlightning.errors import ConfigError, EnvironmentFailedError
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.types import ActionBatch

COUNTING = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_workers=2, num_envs=3)
LENGTH = 4
SEED = 7


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def create_group(runtime: InProcessRuntime, create_worker=EnvWorker) -> EnvGroup:
    submitter = TaskSubmitter(timeout_seconds=30.0)
    group = EnvGroup(runtime, submitter, [COUNTING], LENGTH, SEED, create_worker=create_worker)
    group.reset()
    return group


@pytest.fixture
def group(runtime) -> EnvGroup:
    group = create_group(runtime)
    group.supervise()
    return group


def step_all(group: EnvGroup, num_steps: int = LENGTH) -> None:
    for _ in range(num_steps):
        for env_id, task in group.observations():
            zeros = np.zeros(len(task.result(30.0).observation), dtype=np.float32)
            answer = ActionBatch(env_id, np.zeros(len(zeros), int), zeros, zeros, 0, "eval-0")
            group.step(env_id, answer)


def fragments_of(group: EnvGroup, num_steps: int = LENGTH) -> list[str]:
    step_all(group, num_steps)
    return [task.result(30.0).env_id for task in group.take_fragments()]


def add(runtime: InProcessRuntime, group: EnvGroup) -> str:
    member = group.roster.new_member()
    group.add(member, runtime.spawn(member.first_spec))
    return member.env_id


def handle_of(group: EnvGroup, env_id: str):
    return next(handle for handle in group.handles() if handle.worker_id == env_id)


def test_a_new_worker_joins_with_a_reset_at_the_next_fragment(runtime, group) -> None:
    step_all(group, 2)
    assert add(runtime, group) == "env-2"
    assert group.env_ids == ("env-0", "env-1")
    assert fragments_of(group, 2) == ["env-0", "env-1"]
    assert fragments_of(group) == ["env-0", "env-1", "env-2"]
    assert group.kind_of("env-2") == group.kind_of("env-0")


def test_a_new_worker_has_random_numbers_of_its_own(runtime, group) -> None:
    add(runtime, group)
    step_all(group, 1)
    handle = handle_of(group, "env-2")
    other = EnvWorker(COUNTING, 2, LENGTH, SEED)
    other.reset()
    assert handle.call("state").result(30.0) == other.state()


def test_an_index_is_never_used_again(runtime, group) -> None:
    add(runtime, group)
    fragments_of(group)
    group.remove("env-2")
    assert fragments_of(group) == ["env-0", "env-1"]
    assert add(runtime, group) == "env-3"


def test_who_is_removed_between_fragments_is_not_asked_again_and_loses_nothing(group) -> None:
    left: list[str] = []
    group.on_left(left.append)
    fragments_of(group)
    handle = handle_of(group, "env-0")
    group.remove("env-0")
    assert fragments_of(group) == ["env-1"]
    assert left == ["env-0"]
    assert not handle.is_alive()
    assert group.dropped_steps() == {}
    assert group.lost() == []


def test_who_is_removed_in_the_middle_finishes_the_fragment_which_is_used(group) -> None:
    step_all(group, 2)
    group.remove("env-0", drain_seconds=30.0)
    assert fragments_of(group, 2) == ["env-0", "env-1"]
    assert fragments_of(group) == ["env-1"]
    assert group.dropped_steps() == {}


def test_when_the_deadline_is_over_the_fragment_is_dropped_and_counted(group) -> None:
    step_all(group, 2)
    for task in group.newest.values():
        task.result(30.0)
    handle = handle_of(group, "env-0")
    group.remove("env-0", drain_seconds=0.0)
    assert fragments_of(group, 2) == ["env-1"]
    assert group.dropped_steps() == {"env-0": 2 * 3}
    assert not handle.is_alive()


def test_without_supervision_nothing_is_counted_twice(runtime) -> None:
    group = create_group(runtime)
    fragments_of(group)
    group.remove("env-0")
    assert fragments_of(group) == ["env-1"]
    assert group.dropped_steps() == {}


def test_who_dies_before_it_could_leave_is_not_brought_back(group) -> None:
    left: list[str] = []
    group.on_left(left.append)
    step_all(group, 2)
    group.remove("env-0", drain_seconds=30.0)
    handle_of(group, "env-0").kill()
    assert fragments_of(group, 2) == ["env-1"]
    assert group.lost() == []
    assert left == ["env-0"]
    assert group.env_ids == ("env-1",)


def test_who_is_lost_may_be_removed(group) -> None:
    step_all(group, 1)
    handle_of(group, "env-0").kill()
    assert [lost.worker_id for lost in group.lost()] == ["env-0"]
    dropped = group.dropped_steps()
    group.remove("env-0")
    assert group.lost() == []
    assert group.dropped_steps() == dropped


def test_who_joins_and_leaves_at_once_never_takes_part(runtime, group) -> None:
    handle_id = add(runtime, group)
    group.remove(handle_id)
    assert fragments_of(group) == ["env-0", "env-1"]
    assert not any(h.worker_id == handle_id for h in group.handles())


def test_the_last_one_cannot_leave(group) -> None:
    group.remove("env-0")
    group.remove("env-0")
    with pytest.raises(EnvironmentFailedError, match="env-1, the last one; add another"):
        group.remove("env-1")
    with pytest.raises(EnvironmentFailedError, match="got 'env-7'"):
        group.remove("env-7")
    assert fragments_of(group) == ["env-1"]


def test_there_must_be_such_a_block(group) -> None:
    with pytest.raises(ConfigError, match="one of 1 environment blocks, got 1"):
        group.roster.new_member(1)


def test_a_worker_that_stamps_the_id_of_another_may_not_join(runtime) -> None:
    group = create_group(
        runtime, lambda config, index, *rest: EnvWorker(config, min(index, 1), *rest)
    )
    with pytest.raises(EnvironmentFailedError, match="to have the id 'env-2', got 'env-1'"):
        add(runtime, group)


def test_who_has_not_joined_yet_is_closed_with_the_others(runtime, group) -> None:
    member = group.roster.new_member()
    handle = runtime.spawn(member.first_spec)
    group.add(member, handle)
    group.close()
    assert not handle.is_alive()


def test_a_resumed_group_has_the_configured_workers_and_goes_on_counting(runtime, group) -> None:
    """env-2 had joined, env-0 had left: env-0 starts anew, env-3 is the next to join."""
    add(runtime, group)
    fragments_of(group)
    group.remove("env-0")
    fragments_of(group)
    states = group.states()
    with InProcessRuntime() as other_runtime:
        other = create_group(other_runtime)
        other.restore(states)
        assert other.env_ids == ("env-0", "env-1")
        restored = other.states()["workers"]
        assert restored["env-0"] == {**RandomStreams(SEED, 0, 2).state(), "incarnation": 2}
        assert restored["env-1"] == states["workers"]["env-1"]
        assert add(other_runtime, other) == "env-3"


def test_a_worker_restarted_after_a_resume_draws_what_none_before_has_drawn(runtime, group) -> None:
    """env-1 dies, is restarted, is resumed, and dies again: its third incarnation."""

    def restart(runtime: InProcessRuntime, group: EnvGroup) -> dict:
        handle_of(group, "env-1").kill()
        assert [lost.worker_id for lost in group.lost()] == ["env-1"]
        group.rejoin(runtime.spawn(group.next_spec("env-1")))
        return group.states()["workers"]["env-1"]

    first = group.states()["workers"]["env-1"]
    second = restart(runtime, group)
    fragments_of(group)
    states = group.states()
    assert (first["incarnation"], second["incarnation"]) == (1, 2)
    with InProcessRuntime() as other_runtime:
        other = create_group(other_runtime)
        other.supervise()
        other.restore(states)
        other.reset()
        assert other.states()["workers"]["env-1"]["incarnation"] == 2
        third = restart(other_runtime, other)
        fresh = EnvWorker(COUNTING, 1, LENGTH, SEED, 3)
        fresh.reset()
    assert third == {**fresh.state(), "incarnation": 3}
    assert third["noise"] not in (first["noise"], second["noise"])
