"""The supervisor over real groups, with replicas and a learner that only count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.restart_budget import RestartBudget
from rlightning.engine.supervisor import Staff, Supervisor
from rlightning.env.group import EnvGroup
from rlightning.errors import (
    EnvironmentFailedError,
    NoEvalPolicyError,
    WorkerDiedError,
    WorkerLostError,
)
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerHandle, WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import FakeLearner, FakeReplica, shown_observation
from rlightning.testing.manual_clock import ManualClock

COUNTING = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_workers=2, num_envs=2)
WAIT_SECONDS = 30.0


class Bench:
    def __init__(
        self, runtime: InProcessRuntime, max_restarts: int = 3, **staff_options: Any
    ) -> None:
        self.runtime = runtime
        self.clock = ManualClock()
        self.environments = EnvGroup(runtime, TaskSubmitter(), [COUNTING], 4, 0)
        self.made: list[str] = []
        self.failing: dict[str, Exception] = {}
        self.pool = FakePool(
            runtime, {name: FakeReplica(name) for name in ("eval-0", "eval-1")}, RoutingConfig()
        )
        learner = runtime.spawn(WorkerSpec("learner-0", FakeLearner))
        (kind,) = self.environments.kinds
        kinds = dict.fromkeys(self.environments.env_ids, kind)
        self.policies = PolicyGroup({kind: self.pool.pool}, kinds, learner, self.pool.submitter)
        specs = {
            name: WorkerSpec(name, self.factory(name), "old-node") for name in ("eval-0", "eval-1")
        }
        self.supervisor = Supervisor(
            Staff(runtime, self.environments, self.policies, specs, **staff_options),
            RestartBudget(max_restarts, 10.0, self.clock),
            self.clock.advance,
        )
        self.policies.publish()
        self.environments.reset()

    def factory(self, name: str) -> Callable[[], FakeReplica]:
        def create() -> FakeReplica:
            self.made.append(name)
            if name in self.failing:
                raise self.failing[name]
            return FakeReplica(name)

        return create

    def handle(self, worker_id: str) -> WorkerHandle:
        workers = [*self.environments.handles(), *self.policies.handles(), self.policies.learner]
        return next(worker for worker in workers if worker.worker_id == worker_id)

    def kill(self, *worker_ids: str) -> None:
        for worker_id in worker_ids:
            self.handle(worker_id).kill()

    def ask(self) -> Any:
        return self.policies.act("env-0", shown_observation("env-0")).result(WAIT_SECONDS)


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def test_nobody_who_lives_is_restarted(runtime) -> None:
    bench = Bench(runtime)
    bench.supervisor.restart_lost()
    assert (bench.made, bench.supervisor.restarts()) == ([], {})
    assert bench.supervisor.fault_counts() == {}


def test_the_dead_are_restarted_with_the_newest_weights_and_a_reset(runtime) -> None:
    bench = Bench(runtime)
    for _ in range(3):
        bench.policies.publish()
    bench.kill("eval-1", "env-0")
    bench.supervisor.restart_lost()
    assert bench.supervisor.restarts() == {"eval-1": 1, "env-0": 1}
    assert bench.handle("eval-1").call("policy_version").result() == 3
    assert bench.handle("env-0").incarnation == bench.handle("eval-1").incarnation == 2
    assert bench.environments.newest["env-0"].result(WAIT_SECONDS).env_id == "env-0"
    assert bench.policies.loads() == {"eval-0": 0, "eval-1": 0}


def test_who_has_to_wait_is_left_out_as_long_as_others_work(runtime) -> None:
    bench = Bench(runtime)
    for _ in range(2):
        bench.kill("eval-0", "env-1")
        bench.supervisor.restart_lost()
    assert bench.supervisor.restarts() == {"eval-0": 1, "env-1": 1}
    assert bench.clock() == 0.0
    bench.clock.advance(10.0)
    bench.supervisor.restart_lost()
    assert bench.supervisor.restarts() == {"eval-0": 2, "env-1": 2}


def test_if_no_environment_is_left_it_waits_for_the_next_restart(runtime) -> None:
    bench = Bench(runtime)
    bench.kill("env-0")
    bench.supervisor.restart_lost()
    bench.clock.advance(4.0)
    bench.kill("env-0")
    bench.supervisor.restart_lost()
    bench.kill("env-1")
    bench.supervisor.restart_lost()
    assert bench.clock() == 4.0
    bench.kill("env-1")
    bench.supervisor.restart_lost()
    assert bench.clock() == 10.0
    assert bench.supervisor.restarts() == {"env-0": 2, "env-1": 1}


def test_a_request_that_finds_nobody_waits_for_a_restart(runtime) -> None:
    bench = Bench(runtime)
    for number in (1, 2):
        bench.kill("eval-0", "eval-1")
        assert bench.ask().policy_version == 0
        assert bench.clock() == 10.0 * (number - 1)
    assert bench.supervisor.restarts() == {"eval-0": 2, "eval-1": 2}


def test_nobody_is_brought_back_once_the_run_is_over(runtime) -> None:
    bench = Bench(runtime)
    with bench.supervisor:
        bench.kill("eval-0", "eval-1")
    with pytest.raises(NoEvalPolicyError):
        bench.ask()
    assert bench.made == []


def test_a_request_that_finds_nobody_after_the_last_restart_is_refused(runtime) -> None:
    bench = Bench(runtime, max_restarts=0)
    bench.kill("eval-0", "eval-1")
    with pytest.raises(NoEvalPolicyError, match=r"WorkerLostError.*max_restarts=0"):
        bench.ask()


def test_who_was_removed_on_purpose_does_not_come_back(runtime) -> None:
    bench = Bench(runtime)
    bench.policies.remove("eval-0")
    bench.policies.remove("eval-1")
    bench.supervisor.restart_lost()
    with pytest.raises(NoEvalPolicyError):
        bench.ask()
    assert bench.made == []


def test_a_worker_may_be_restarted_on_another_node(runtime) -> None:
    told: list[str | None] = []
    bench = Bench(
        runtime,
        choose_node=lambda worker_id: f"new-node-of-{worker_id}",
        on_restart=lambda handle: told.append(handle.node_id),
    )
    bench.kill("eval-0", "env-1")
    bench.supervisor.restart_lost()
    assert told == ["new-node-of-eval-0", "new-node-of-env-1"]
    assert bench.handle("eval-0").node_id == "new-node-of-eval-0"


def test_without_a_choice_a_worker_comes_back_where_it_was(runtime) -> None:
    bench = Bench(runtime)
    bench.kill("eval-0")
    bench.supervisor.restart_lost()
    assert bench.handle("eval-0").node_id == "old-node"


def test_a_restart_that_fails_costs_one_of_the_budget(runtime) -> None:
    bench = Bench(runtime)
    bench.failing["eval-0"] = OSError("no memory")
    bench.kill("eval-0")
    for seconds in (0.0, 10.0, 20.0):
        bench.clock.advance(seconds)
        bench.supervisor.restart_lost()
    assert bench.supervisor.restarts() == {}
    assert list(bench.policies.loads()) == ["eval-1"]
    with pytest.raises(
        WorkerLostError, match=r"'eval-0' .*its 3 restarts are spent.*OSError: no memory"
    ):
        bench.supervisor.restart_lost()


def test_a_worker_that_could_not_join_does_not_live_on(runtime) -> None:
    handles: list[WorkerHandle] = []

    def refuse(handle: WorkerHandle) -> None:
        handles.append(handle)
        raise ValueError("no seat")

    bench = Bench(runtime, on_restart=refuse)
    bench.kill("eval-0")
    bench.supervisor.restart_lost()
    assert not handles[0].is_alive()


def test_the_death_of_the_learner_is_found_when_a_replica_needs_weights(runtime) -> None:
    bench = Bench(runtime)
    bench.kill("eval-0", "learner-0")
    with pytest.raises(WorkerLostError, match=r"'learner-0'.*rlightning resume") as caught:
        bench.supervisor.restart_lost()
    assert caught.value.worker_id == "learner-0"


def test_a_restart_on_a_node_that_is_about_to_die_costs_nothing_and_goes_elsewhere(runtime) -> None:
    nodes = ["dying-node", "new-node"]
    bench = Bench(runtime, choose_node=lambda worker_id: nodes[0], is_node_gone=lambda _: True)

    def refuse() -> FakeReplica:
        nodes.pop(0)
        raise WorkerDiedError("the node has died", worker_id="eval-0")

    bench.supervisor._staff.replica_specs["eval-0"] = WorkerSpec(
        "eval-0", lambda: refuse() if len(nodes) > 1 else FakeReplica("eval-0")
    )
    bench.kill("eval-0")
    bench.supervisor.restart_lost()
    assert bench.supervisor.restarts() == {"eval-0": 1}
    assert bench.handle("eval-0").node_id == "new-node"
    assert bench.supervisor._budget.num_spent("eval-0") == 1


def test_a_start_that_fails_by_the_workers_own_fault_is_not_tried_elsewhere(runtime) -> None:
    bench = Bench(runtime, is_node_gone=lambda _: True)
    bench.failing["eval-0"] = EnvironmentFailedError("broken everywhere")
    bench.kill("eval-0")
    bench.supervisor.restart_lost()
    assert bench.made == ["eval-0"]
    assert bench.supervisor.restarts() == {}
