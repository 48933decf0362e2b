from __future__ import annotations

import threading
from collections import Counter

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.env_id import EnvId, format_env_id, parse_env_id
from rlightning.errors import (
    CheckpointError,
    EnvironmentFailedError,
    WorkerDiedError,
)
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.env_groups import (
    CART_POLE,
    COUNTING,
    PENDULUM,
    create_group,
    step_all,
    still_action,
)


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def test_workers_are_numbered_across_all_configurations(runtime) -> None:
    group = create_group(runtime, COUNTING, CART_POLE)
    assert group.env_ids == ("env-0", "env-1", "env-2", "env-3", "env-4")
    assert [handle.worker_id for handle in group.handles()] == list(group.env_ids)
    assert group.environment_names() == {
        "env-0": COUNTING.id,
        "env-1": COUNTING.id,
        "env-2": "CartPole-v1",
        "env-3": "CartPole-v1",
        "env-4": "CartPole-v1",
    }
    group.close()


def test_B59_every_sub_environment_has_an_id_of_its_own(runtime) -> None:
    group = create_group(
        runtime, EnvConfig(id=COUNTING.id, num_workers=2, num_envs=4), rollout_length=3
    )
    group.reset()
    for _ in range(3):
        step_all(group)
    fragments = [task.result(30.0) for task in group.take_fragments()]
    stamped = Counter(episode.env_id for fragment in fragments for episode in fragment.episodes)
    assert list(stamped) == group.sub_env_ids()
    assert len(stamped) == 8
    for env_id in stamped:
        parsed = parse_env_id(env_id)
        assert isinstance(parsed, EnvId)
        assert format_env_id(parsed) == env_id
    group.close()


def test_B65_kinds_are_told_apart_and_shared_by_equal_environments(runtime) -> None:
    again = EnvConfig(id="CartPole-v1", kwargs={"sutton_barto_reward": True}, num_envs=2)
    group = create_group(runtime, CART_POLE, PENDULUM, again)
    of_kind = {name: [i for i in group.env_ids if group.kind_of(i) == name] for name in group.kinds}
    assert list(of_kind.values()) == [["env-0", "env-1", "env-2", "env-4"], ["env-3"]]
    cart_pole, pendulum = group.kinds.values()
    assert cart_pole.observation_space.shape == (4,)
    assert pendulum.action_space.shape == (1,)
    assert [kind.name for kind in group.kinds.values()] == list(group.kinds)
    group.close()


def test_different_environments_play_side_by_side(runtime) -> None:
    group = create_group(runtime, COUNTING, CART_POLE, PENDULUM, rollout_length=4)
    group.reset()
    for _ in range(4):
        assert step_all(group) == list(group.env_ids)
    fragments = [task.result(30.0) for task in group.take_fragments()]
    assert [fragment.env_id for fragment in fragments] == list(group.env_ids)
    assert [fragment.observation.shape for fragment in fragments] == [
        (4, 2, 1),
        (4, 2, 1),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 2, 3),
    ]
    group.close()


def test_fragments_follow_each_other_without_a_gap(runtime) -> None:
    group = create_group(runtime, COUNTING, rollout_length=2)
    group.reset()
    seen = []
    for _ in range(3):
        step_all(group)
        step_all(group)
        fragment = group.take_fragments()[1].result(30.0)
        seen += fragment.observation[:, 0, 0].tolist()
    assert seen == [100, 101, 102, 200, 201, 202]
    group.close()


def test_an_action_may_be_a_task_whose_value_is_not_there_yet() -> None:
    class Answerer:
        def __init__(self):
            self.may_answer = threading.Event()

        def answer(self, request):
            self.may_answer.wait(30.0)
            return still_action(request)

    answerer = Answerer()
    with InProcessRuntime("threads") as runtime:
        from rlightning.runtime.base import WorkerSpec

        policy = runtime.spawn(WorkerSpec("eval-0", lambda: answerer))
        group = create_group(runtime, COUNTING)
        group.reset()
        for env_id, task in group.observations():
            group.step(env_id, policy.call("answer", task))
        assert not any(task.is_done() for task in group.newest.values())
        answerer.may_answer.set()
        for task in group.newest.values():
            assert task.result(30.0).observation.tolist() == [[101], [101]]
        group.close()


def test_newest_are_the_tasks_of_the_newest_observations(runtime) -> None:
    group = create_group(runtime, COUNTING)
    assert dict(group.newest) == {}
    group.reset()
    before = dict(group.newest)
    assert before["env-1"].result(30.0).observation.tolist() == [[100], [100]]
    step_all(group)
    assert group.newest["env-1"].result(30.0).observation.tolist() == [[101], [101]]
    assert before["env-1"].result(30.0).observation.tolist() == [[100], [100]]
    group.close()


def test_states_come_back_to_the_same_workers(runtime) -> None:
    group, other = create_group(runtime, COUNTING), None
    states = group.states()
    assert list(states["workers"]) == ["env-0", "env-1"]
    assert states["workers"]["env-0"] != states["workers"]["env-1"]
    group.reset()
    noise = [task.result(30.0).noise.tolist() for task in group.newest.values()]
    group.close()
    with InProcessRuntime() as second_runtime:
        other = create_group(second_runtime, COUNTING)
        other.reset()
        other.restore(states)
        with pytest.raises(EnvironmentFailedError, match="call reset"):
            other.observations()
        other.reset()
        assert [task.result(30.0).noise.tolist() for task in other.newest.values()] == noise
        other.close()


def test_states_of_another_number_of_workers_are_refused(runtime) -> None:
    with InProcessRuntime() as other_runtime:
        one = create_group(other_runtime, COUNTING.model_copy(update={"num_workers": 1}))
        states = one.states()
        one.close()
    group = create_group(runtime, COUNTING)
    with pytest.raises(CheckpointError, match="expected states of env-0, env-1, got env-0; resum"):
        group.restore(states)
    group.close()


def test_closing_closes_all_environments_and_stops_their_workers(runtime, closings) -> None:
    group = create_group(runtime, EnvConfig(id="Closing-v0", num_workers=2, num_envs=2))
    group.close()
    group.close()
    assert len(set(closings)) == len(closings) == 4
    assert not any(handle.is_alive() for handle in group.handles())
    with pytest.raises(WorkerDiedError):
        group.states()


def test_waiting_times_are_those_of_its_own_workers(runtime) -> None:
    group = create_group(runtime, COUNTING)
    group.reset()
    assert set(group.wait_seconds()) == {"env-0", "env-1"}
    assert all(seconds >= 0.0 for seconds in group.wait_seconds().values())
    group.close()


def test_the_group_says_what_it_hosts(runtime) -> None:
    group = create_group(runtime, CART_POLE)
    assert "env-2: CartPole-v1; 0 observations not taken" in repr(group)
    group.close()
