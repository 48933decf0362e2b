"""Faults that users of other systems reported, where replicas fail, against whole pools."""

from __future__ import annotations

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.evaluation_engine import EvaluationEngine
from rlightning.env.group import EnvGroup
from rlightning.errors import NoEvalPolicyError, WorkerError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import (
    Before,
    FakeLearner,
    FakeReplica,
    fake_replicas,
)
from rlightning.testing.manual_clock import ManualClock

WAIT_SECONDS = 30.0
SYNC = RoutingConfig(mode="sync")
ASYNC = RoutingConfig(mode="async")
BOTH_MODES = pytest.mark.parametrize("routing", [SYNC, ASYNC], ids=["sync", "async"])


def _evaluation(runtime: InProcessRuntime, bench: FakePool) -> EvaluationEngine:
    config = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_envs=2)
    environments = EnvGroup(runtime, TaskSubmitter(), [config], 4, 0)
    learner = runtime.spawn(WorkerSpec("learner-0", FakeLearner))
    (kind,) = environments.kinds
    kinds = dict.fromkeys(environments.env_ids, kind)
    policies = PolicyGroup({kind: bench.pool}, kinds, learner, bench.submitter)
    return EvaluationEngine(environments, policies)


@BOTH_MODES
def test_B34_one_hiccup_puts_no_replica_out_of_rotation(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    once: Before = lambda n: ConnectionError("unavailable") if n == 1 else None  # noqa: E731
    fakes = {"eval-0": FakeReplica("eval-0", before=once), "eval-1": FakeReplica("eval-1")}
    bench = FakePool(runtime, fakes, routing.model_copy(update={"tie_break": "rotating"}))
    for _ in range(12):
        bench.ask().result(WAIT_SECONDS)
    assert bench.pool.error_counts() == {"eval-0": 1}
    assert len(fakes["eval-0"].served) > 3


@BOTH_MODES
def test_B35_a_replica_that_reports_anothers_death_stays(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    blame: Before = lambda number: WorkerError("store lost", worker_id="store-1")  # noqa: E731
    bench = FakePool(runtime, {"eval-0": FakeReplica("eval-0", before=blame)}, routing)
    for _ in range(10):
        with pytest.raises(WorkerError, match="store lost"):
            bench.ask().result(WAIT_SECONDS)
    assert bench.pool.error_counts() == {}
    assert len(bench.pool.membership.routable()) == 1


@BOTH_MODES
def test_B37_a_broken_replica_is_asked_up_to_its_threshold_and_then_probed(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    broken: Before = lambda number: RuntimeError("always")  # noqa: E731
    fakes = {"eval-0": FakeReplica("eval-0", before=broken), "eval-1": FakeReplica("eval-1")}
    clock = ManualClock()
    limits = BreakerLimits(failure_threshold=3, probe_interval_seconds=5.0)
    bench = FakePool(runtime, fakes, routing, limits=limits, clock=clock)
    for _ in range(1000):
        assert bench.ask().result(WAIT_SECONDS).replica_id == "eval-1"
        clock.advance(0.1)
    # 100 s: probes after rests of 5, 10, 20 and 40 s.
    assert 3 <= len(fakes["eval-0"].served) <= 3 + 4


@BOTH_MODES
def test_B42_a_replica_that_died_and_is_back_under_its_id_gets_work(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    fakes = fake_replicas(0.0, 0.0)
    bench = FakePool(runtime, fakes, routing.model_copy(update={"tie_break": "rotating"}))
    learner = runtime.spawn(WorkerSpec("learner-0", FakeLearner))
    group = PolicyGroup({"kind": bench.pool}, {"env-0": "kind"}, learner, bench.submitter)
    group.publish()
    fakes["eval-1"].hold()
    tasks = [bench.ask(), bench.ask()]
    bench.handles["eval-1"].kill()
    answers = {task.result(WAIT_SECONDS).replica_id for task in tasks}
    assert answers == {"eval-0"}
    fakes["eval-1"].release()
    reborn = FakeReplica("eval-1")
    group.add("kind", bench.spawn("eval-1", reborn))
    for _ in range(6):
        bench.ask().result(WAIT_SECONDS)
    assert len(reborn.served) >= 2
    assert reborn.policy_version() == group.policy_version
    assert bench.pool.loads() == {"eval-0": 0, "eval-1": 0}


@BOTH_MODES
@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_B49_an_evaluation_without_replicas_is_an_error_and_gives_no_numbers(
    routing: RoutingConfig, mode: str
) -> None:
    with InProcessRuntime(mode) as runtime:  # type: ignore[arg-type]
        bench: FakePool

        def die_at_the_fifth(number: int) -> None:
            if number == 5:
                for handle in bench.handles.values():
                    handle.kill()

        names = ("eval-0", "eval-1")
        fakes = {name: FakeReplica(name, before=die_at_the_fifth) for name in names}
        bench = FakePool(runtime, fakes, routing)
        with pytest.raises(NoEvalPolicyError, match="0 alive"):
            _evaluation(runtime, bench).run(50)
