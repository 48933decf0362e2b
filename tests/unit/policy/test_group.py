from __future__ import annotations

import threading

import pytest

from rlightning.config.routing_config import RoutingConfig
from rlightning.errors import NoEvalPolicyError, RoutingValueError, WorkerDiedError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.eventually import eventually
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import FakeLearner, FakeReplica, shown_observation
from rlightning.testing.random_fragments import RandomFragments

WAIT_SECONDS = 30.0


class Bench:
    """Two kinds of environment: env-0 and env-1 are boats, env-2 is a car."""

    def __init__(self, runtime, max_pending_tasks: int = 2) -> None:
        self.runtime = runtime
        self.fakes = {f"eval-{i}": FakeReplica(f"eval-{i}") for i in range(3)}
        routing = RoutingConfig(max_pending_tasks=max_pending_tasks)
        boats = {name: self.fakes[name] for name in ("eval-0", "eval-1")}
        self.boats = FakePool(runtime, boats, routing)
        self.cars = FakePool(runtime, {"eval-2": self.fakes["eval-2"]}, routing)
        self.learner = FakeLearner()
        self.learner_handle = runtime.spawn(WorkerSpec("learner-0", lambda: self.learner))
        self.group = PolicyGroup(
            {"boat": self.boats.pool, "car": self.cars.pool},
            {"env-0": "boat", "env-1": "boat", "env-2": "car"},
            self.learner_handle,
            self.boats.submitter,
            WAIT_SECONDS,
        )

    def ask(self, env_id: str):
        return self.group.act(env_id, shown_observation(env_id))

    def versions(self) -> list[int]:
        return [fake.policy_version() for fake in self.fakes.values()]


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


@pytest.fixture
def bench(runtime) -> Bench:
    return Bench(runtime)


def test_each_environment_is_answered_by_the_pool_of_its_kind(bench) -> None:
    for env_id, replica_ids in (("env-0", ["eval-0", "eval-1"]), ("env-2", ["eval-2"])):
        for _ in range(4):
            assert bench.ask(env_id).result(WAIT_SECONDS).replica_id in replica_ids
    assert list(bench.group.pools) == ["boat", "car"]
    assert sum(bench.group.take_task_counts().values()) == 8
    assert bench.group.loads() == {"eval-0": 0, "eval-1": 0, "eval-2": 0}
    assert bench.group.router_counts()["balanced"] == 8
    assert set(bench.group.wait_seconds()) >= {"router"}
    assert [handle.worker_id for handle in bench.group.handles()] == list(bench.fakes)
    assert bench.group.learner is bench.learner_handle


def test_an_unknown_environment_is_refused_with_the_nearest_name(bench) -> None:
    with pytest.raises(RoutingValueError, match="'env-22'.*'env-2'.*there are env-0, env-1, env-2"):
        bench.ask("env-22")


def test_every_replica_has_the_version_when_publish_returns(bench) -> None:
    assert bench.group.policy_version == -1
    for version in range(5):
        assert bench.group.publish() == version
        assert bench.versions() == [version] * 3
        assert bench.group.policy_version == version


def test_publishing_leaves_out_who_died_and_goes_on(bench) -> None:
    bench.boats.handles["eval-0"].kill()
    assert bench.group.publish() == 0
    assert bench.versions() == [-1, 0, 0]
    assert bench.group.loads() == {"eval-1": 0, "eval-2": 0}


def test_the_death_of_the_learner_is_not_blamed_on_a_replica(bench) -> None:
    bench.learner_handle.kill()
    with pytest.raises(WorkerDiedError, match="learner-0"):
        bench.group.publish()
    assert len(bench.group.loads()) == 3


def test_a_resting_replica_gets_new_weights_too(bench) -> None:
    members = bench.boats.pool.membership
    for _ in range(3):
        members.record_failure(members.members()[0], RuntimeError("hiccup"))
    assert len(members.routable()) == 1
    bench.group.publish()
    assert bench.versions() == [0, 0, 0]


def test_an_update_gets_the_kind_of_each_fragment(bench) -> None:
    fragments = [_fragment(env_id) for env_id in ("env-0", "env-1", "env-2")]
    report = bench.group.update(fragments, 0.25)
    assert bench.learner.kinds == [("boat", "boat", "car")]
    assert report.metrics == {"progress": 0.25}
    assert report.num_steps == 3 * 8


def _fragment(env_id: str) -> FinishedTask:
    from rlightning.config.policy_config import PolicyConfig
    from rlightning.env.space_kind import SpaceKind
    from rlightning.policy.actor_critic import create_actor_critic
    from rlightning.testing.environments import CountingEnv

    kind = SpaceKind(CountingEnv.observation_space, CountingEnv.action_space)
    policy = create_actor_critic(kind, PolicyConfig(), 0)
    fragment = RandomFragments(num_steps=4, num_envs=2).collect(policy, env_id=env_id)
    return FinishedTask(env_id, "take_fragment", fragment, None, 0)


def test_a_fragment_that_failed_fails_the_update(bench) -> None:
    lost = FinishedTask("env-0", "take_fragment", None, RuntimeError("the simulator crashed"), 0)
    with pytest.raises(RuntimeError, match="the simulator crashed"):
        bench.group.update([lost], 0.0)
    assert bench.learner.kinds == []


def test_a_newcomer_has_the_present_weights_before_its_first_request(bench) -> None:
    bench.group.publish()
    bench.group.publish()
    late = FakeReplica("eval-9")
    bench.group.add("car", bench.cars.spawn("eval-9", late))
    assert late.policy_version() == 1
    answers = {bench.ask("env-2").result(WAIT_SECONDS).replica_id for _ in range(4)}
    assert answers == {"eval-2", "eval-9"}


def test_a_newcomer_of_an_unknown_kind_is_refused_with_the_nearest_name(bench) -> None:
    with pytest.raises(RoutingValueError, match="'boad'.*'boat'.*there are boat, car"):
        bench.group.add("boad", bench.cars.handles["eval-2"])


def test_who_is_removed_gets_nothing_more_and_is_stopped(bench) -> None:
    bench.group.remove("eval-0")
    answers = [bench.ask("env-0").result(WAIT_SECONDS).replica_id for _ in range(4)]
    assert answers == ["eval-1"] * 4
    assert not bench.boats.handles["eval-0"].is_alive()
    assert "eval-0" not in bench.group.loads()


def test_to_remove_a_stranger_is_refused_with_the_nearest_name(bench) -> None:
    with pytest.raises(RoutingValueError, match="'eval-00'.*there are eval-0, eval-1, eval-2"):
        bench.group.remove("eval-00")


def test_without_replicas_a_kind_has_no_answers(bench) -> None:
    bench.group.remove("eval-2")
    with pytest.raises(NoEvalPolicyError):
        bench.ask("env-2")
    assert bench.ask("env-0").result(WAIT_SECONDS).env_id == "env-0"


def test_the_state_of_the_learner_goes_out_and_comes_back(bench) -> None:
    bench.group.publish()
    state = bench.group.state()
    assert state == {"boat": 0, "car": 0}
    bench.group.restore({"boat": 6, "car": 6})
    assert bench.group.publish() == 7


def test_B51_a_replica_is_removed_after_it_has_answered_what_it_had() -> None:
    with InProcessRuntime("threads") as runtime:
        bench = Bench(runtime, max_pending_tasks=3)
        bench.group.publish()
        for name in ("eval-0", "eval-1"):
            bench.fakes[name].hold()
        tasks = [bench.ask("env-0") for _ in range(6)]
        assert bench.group.loads()["eval-1"] == 3
        removing = threading.Thread(target=bench.group.remove, args=("eval-1",))
        removing.start()
        eventually(lambda: "eval-1" not in bench.group.loads())
        assert bench.boats.handles["eval-1"].is_alive(), "it still answers"
        bench.fakes["eval-1"].release()
        removing.join(WAIT_SECONDS)
        assert not bench.boats.handles["eval-1"].is_alive()
        bench.fakes["eval-0"].release()
        answers = [task.result(WAIT_SECONDS).replica_id for task in tasks]
        assert sorted(answers) == ["eval-0"] * 3 + ["eval-1"] * 3
        assert len(bench.fakes["eval-1"].served) == 3, "no new work came after the removal"


def test_B51_past_the_deadline_requests_go_to_another_replica() -> None:
    with InProcessRuntime("threads") as runtime:
        bench = Bench(runtime, max_pending_tasks=3)
        bench.fakes["eval-1"].hold()
        tasks = [bench.ask("env-0") for _ in range(2)]
        assert bench.group.loads()["eval-1"] == 1
        bench.group.remove("eval-1", drain_seconds=0.05)
        answers = [task.result(WAIT_SECONDS).replica_id for task in tasks]
        assert answers == ["eval-0", "eval-0"]
        bench.fakes["eval-1"].release()


def test_B68_every_replica_follows_the_learner_within_one_publication() -> None:
    """The learner adds 1 to a bias in each update; see the answer of every replica."""
    import numpy as np
    import torch
    from gymnasium.spaces import Box

    from rlightning.algorithm.learner import Learner
    from rlightning.config.policy_config import PolicyConfig
    from rlightning.env.space_kind import SpaceKind
    from rlightning.policy.actor_critic import create_actor_critic
    from rlightning.policy.pool import PolicyPool
    from rlightning.policy.replica import PolicyReplica
    from rlightning.policy.utils.router import SimpleRouter

    kind = SpaceKind(Box(-1.0, 1.0, (1,), np.float32), Box(-100.0, 100.0, (1,), np.float32))

    def create_policy():
        policy = create_actor_critic(kind, PolicyConfig(), 0)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.zero_()
        return policy

    class AddOne:
        def __init__(self) -> None:
            self.policy = create_policy()

        def update(self, fragments, progress) -> dict[str, float]:
            with torch.no_grad():
                for parameter in self.policy.parameters():
                    parameter.add_(1.0 if parameter.shape == (1,) else 0.0)
            return {}

    for mode in ("inline", "threads"):
        with InProcessRuntime(mode) as runtime:
            bench = Bench(runtime)
            handles = [
                runtime.spawn(
                    WorkerSpec(f"r-{i}", lambda i=i: PolicyReplica(create_policy, f"r-{i}", "cpu"))
                )
                for i in range(3)
            ]
            pool = PolicyPool(handles, lambda policies: SimpleRouter(), bench.boats.submitter)
            learner = runtime.spawn(WorkerSpec("learner", lambda: Learner({"boat": AddOne})))
            group = PolicyGroup({"boat": pool}, {"env-0": "boat"}, learner, bench.boats.submitter)
            for version in range(4):
                assert group.publish() == version
                for handle in handles:
                    answer = handle.call("act", shown_observation("env-0").result())
                    answer = answer.result(WAIT_SECONDS)
                    assert answer.value[0] == version
                    assert answer.policy_version == version
                group.update([_fragment("env-0")], 0.0)


def test_one_who_joins_late_gets_the_newest_weights_which_are_not_made_anew(bench) -> None:
    bench.group.publish()
    bench.group.publish()
    late = FakeReplica("eval-7")
    handle = bench.runtime.spawn(WorkerSpec("eval-7", lambda: late))
    bench.group.add("boat", handle)
    assert late.policy_version() == 1
    assert bench.learner_handle.call("state_dict").result(WAIT_SECONDS) == {"boat": 1, "car": 1}


def test_one_who_joins_before_anything_was_published_gets_the_first_version(bench) -> None:
    late = FakeReplica("eval-7")
    bench.group.add("boat", bench.runtime.spawn(WorkerSpec("eval-7", lambda: late)))
    assert late.policy_version() == 0
    assert bench.group.publish() == 1


def test_after_a_restore_nobody_gets_weights_of_before(bench) -> None:
    bench.group.publish()
    bench.group.restore({"boat": 6, "car": 6})
    late = FakeReplica("eval-7")
    bench.group.add("boat", bench.runtime.spawn(WorkerSpec("eval-7", lambda: late)))
    assert late.policy_version() == 7
