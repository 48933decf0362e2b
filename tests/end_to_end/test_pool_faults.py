"""Faults that users of other systems reported, against whole pools with real threads."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.evaluation_engine import EvaluationEngine
from rlightning.env.group import EnvGroup
from rlightning.errors import DispatchTimeoutError, NoEvalPolicyError, WorkerError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.eventually import eventually
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import (
    Before,
    FakeLearner,
    FakeReplica,
    GatheringFakeReplica,
)
from rlightning.testing.manual_clock import ManualClock

WAIT_SECONDS = 30.0
SYNC = RoutingConfig(mode="sync")
ASYNC = RoutingConfig(mode="async")
HARD = RoutingConfig(mode="async", type="node_affinity")
SOFT = RoutingConfig(mode="async", type="node_affinity", spill_margin=0)
BOTH_MODES = pytest.mark.parametrize("routing", [SYNC, ASYNC], ids=["sync", "async"])


@pytest.fixture
def runtime() -> Iterator[InProcessRuntime]:
    with InProcessRuntime("threads") as runtime:
        yield runtime


def replicas(*service_seconds: float) -> dict[str, FakeReplica]:
    names = [f"eval-{i}" for i in range(len(service_seconds))]
    return {
        name: FakeReplica(name, seconds)
        for name, seconds in zip(names, service_seconds, strict=True)
    }


@BOTH_MODES
def test_B5_a_policy_that_raises_half_the_time_leaves_no_load(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    odd: Before = lambda number: RuntimeError("odd") if number % 2 else None  # noqa: E731
    bench = FakePool(runtime, {"eval-0": FakeReplica("eval-0", before=odd)}, routing)
    num_failed = 0
    for _ in range(100):
        try:
            bench.ask().result(WAIT_SECONDS)
        except RuntimeError:
            num_failed += 1
    assert num_failed == 50
    assert bench.pool.error_counts() == {"eval-0": 50}
    assert bench.pool.loads() == {"eval-0": 0}


def test_B8_a_router_that_is_built_anew_avoids_who_has_work_in_flight(
    runtime: InProcessRuntime,
) -> None:
    fakes = replicas(0.0, 0.0, 0.0)
    bench = FakePool(runtime, fakes, ASYNC.model_copy(update={"max_pending_tasks": 64}))
    for fake in fakes.values():
        fake.hold()
    tasks = [bench.ask() for _ in range(60)]
    assert set(bench.pool.loads().values()) == {20}
    fakes["eval-1"].release()
    fakes["eval-2"].release()
    eventually(lambda: bench.pool.loads() == {"eval-0": 20, "eval-1": 0, "eval-2": 0})
    bench.pool.add(bench.spawn("eval-3", FakeReplica("eval-3")))  # another router from here on
    for name in ("eval-1", "eval-2"):
        fakes[name].hold()
    next_tasks = [bench.ask() for _ in range(20)]
    assert bench.pool.loads()["eval-0"] == 20
    for fake in fakes.values():
        fake.release()
    for task in tasks + next_tasks:
        task.result(WAIT_SECONDS)


@BOTH_MODES
@pytest.mark.parametrize("kind", [FakeReplica, GatheringFakeReplica])
def test_B9_a_busy_replica_has_a_load_on_every_path(
    runtime: InProcessRuntime, routing: RoutingConfig, kind: type[FakeReplica]
) -> None:
    seen: list[int] = []
    bench: FakePool

    def look(number: int) -> None:
        seen.append(bench.pool.loads()["eval-0"])

    bench = FakePool(runtime, {"eval-0": kind("eval-0", 0.01, before=look)}, routing)
    for _ in range(3):
        bench.ask().result(WAIT_SECONDS)
    assert seen == [1, 1, 1]
    assert bench.pool.loads() == {"eval-0": 0}


@BOTH_MODES
def test_B9_a_busy_replica_has_a_load_in_an_evaluation(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    seen: list[int] = []
    bench: FakePool

    def look(number: int) -> None:
        seen.append(bench.pool.loads()["eval-0"])

    bench = FakePool(runtime, {"eval-0": FakeReplica("eval-0", before=look)}, routing)
    _evaluation(runtime, bench).run(2)
    assert len(seen) > 1
    assert set(seen) == {1}


def _evaluation(runtime: InProcessRuntime, bench: FakePool) -> EvaluationEngine:
    config = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_envs=2)
    environments = EnvGroup(runtime, TaskSubmitter(), [config], 4, 0)
    learner = runtime.spawn(WorkerSpec("learner-0", FakeLearner))
    (kind,) = environments.kinds
    kinds = dict.fromkeys(environments.env_ids, kind)
    policies = PolicyGroup({kind: bench.pool}, kinds, learner, bench.submitter)
    return EvaluationEngine(environments, policies)


@BOTH_MODES
def test_B15_a_waiting_request_is_answered_by_the_replica_that_comes_later(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    fakes = replicas(0.0)
    bench = FakePool(runtime, fakes, routing)
    fakes["eval-0"].hold()
    first = bench.ask()
    with ThreadPoolExecutor(1) as executor:
        second = executor.submit(bench.ask)
        time.sleep(0.1)
        assert not second.done(), "it waits unbound"
        late = FakeReplica("eval-1")
        bench.pool.add(bench.spawn("eval-1", late))
        arrived_at = time.monotonic()
        assert second.result(WAIT_SECONDS).result(WAIT_SECONDS).replica_id == "eval-1"
        assert time.monotonic() - arrived_at < 0.5
    fakes["eval-0"].release()
    assert first.result(WAIT_SECONDS).replica_id == "eval-0"


@BOTH_MODES
def test_B16_a_busy_replica_gets_no_second_request_while_others_are_free(
    runtime: InProcessRuntime, routing: RoutingConfig
) -> None:
    bench = FakePool(runtime, replicas(1.0, 0.01, 0.01), routing)
    started_at = time.monotonic()
    tasks = [bench.ask(f"env-{i}") for i in range(30)]
    for task in tasks:
        task.result(WAIT_SECONDS)
    assert time.monotonic() - started_at < 2.0


def test_B16_round_robin_within_a_node_takes_the_slowest_ones_time(
    runtime: InProcessRuntime,
) -> None:
    """The published rule is blind to load: every third request goes to the slow replica."""
    nodes = {"local": ["eval-0", "eval-1", "eval-2", "env-0"]}
    routing = RoutingConfig(mode="sync", type="node_affinity")
    bench = FakePool(runtime, replicas(0.1, 0.001, 0.001), routing, nodes)
    started_at = time.monotonic()
    tasks = [bench.ask() for _ in range(30)]
    answers = [task.result(WAIT_SECONDS).replica_id for task in tasks]
    assert Counter(answers) == {"eval-0": 10, "eval-1": 10, "eval-2": 10}
    assert time.monotonic() - started_at >= 10 * 0.1


@BOTH_MODES
@pytest.mark.parametrize("num_replicas", [1, 4, 8])
def test_B17_throughput_of_a_pool_grows_with_its_replicas(
    runtime: InProcessRuntime, routing: RoutingConfig, num_replicas: int
) -> None:
    bench = FakePool(runtime, replicas(*[0.05] * num_replicas), routing)
    num_rounds = 8

    def live_as_an_environment(env_id: str) -> None:
        for _ in range(num_rounds):
            bench.ask(env_id).result(WAIT_SECONDS)

    def requests_per_second() -> float:
        environments = [
            threading.Thread(target=live_as_an_environment, args=(f"env-{i}",))
            for i in range(num_replicas)
        ]
        started_at = time.monotonic()
        for environment in environments:
            environment.start()
        for environment in environments:
            environment.join()
        return num_replicas * num_rounds / (time.monotonic() - started_at)

    # A machine that is busy with something else may take the processor away: the best of three.
    assert any(requests_per_second() >= 0.9 * num_replicas * 20 for _ in range(3))


TWO_NODES = {"a": ["env-0", "eval-0"], "b": ["env-1", "eval-1"]}


def test_B21_with_soft_affinity_a_full_home_is_left_for_a_free_node(
    runtime: InProcessRuntime,
) -> None:
    fakes = replicas(0.0, 0.0)
    bench = FakePool(runtime, fakes, SOFT, TWO_NODES)
    fakes["eval-0"].hold()
    at_home = bench.ask("env-0")
    started_at = time.monotonic()
    assert bench.ask("env-0").result(WAIT_SECONDS).replica_id == "eval-1"
    assert time.monotonic() - started_at < 1.0
    fakes["eval-0"].release()
    assert at_home.result(WAIT_SECONDS).replica_id == "eval-0"


def test_B24_a_home_that_lives_but_is_full_is_left_and_the_reason_is_counted(
    runtime: InProcessRuntime,
) -> None:
    fakes = replicas(0.0, 0.0)
    bench = FakePool(runtime, fakes, SOFT, TWO_NODES)
    fakes["eval-0"].hold()
    at_home = bench.ask("env-0")
    for _ in range(3):
        assert bench.ask("env-0").result(WAIT_SECONDS).replica_id == "eval-1"
    assert bench.handles["eval-0"].is_alive()
    counts = bench.pool.membership.router_counts()
    assert (counts["local"], counts["spilled"]) == (1, 3)
    fakes["eval-0"].release()
    at_home.result(WAIT_SECONDS)


def test_B21_with_hard_affinity_a_request_waits_at_home_and_its_deadline_tells_for_whom(
    runtime: InProcessRuntime,
) -> None:
    fakes = replicas(0.0, 0.0)
    routing = HARD.model_copy(update={"timeout_seconds": 0.2})
    bench = FakePool(runtime, fakes, routing, TWO_NODES)
    fakes["eval-0"].hold()
    at_home = bench.ask("env-0")
    with pytest.raises(DispatchTimeoutError) as caught:
        bench.ask("env-0")
    assert "expected room for act() at eval-0 within 0.2 s" in str(caught.value)
    assert "eval-0#1: 1 (act since 0." in str(caught.value)
    assert "worker 'eval-0' is busy with act()" in str(caught.value)
    assert fakes["eval-1"].served == []
    fakes["eval-0"].release()
    at_home.result(WAIT_SECONDS)
    assert bench.pool.membership.router_counts()["local"] == 2, "one decision for each request"


def test_B21_at_home_whoever_is_free_first_takes_the_request(runtime: InProcessRuntime) -> None:
    nodes = {"a": ["env-0", "eval-0", "eval-1"], "b": ["eval-2"]}
    fakes = replicas(0.0, 0.0, 0.0)
    bench = FakePool(runtime, fakes, HARD, nodes)
    for name in ("eval-0", "eval-1"):
        fakes[name].hold()
    tasks = [bench.ask("env-0"), bench.ask("env-0")]
    with ThreadPoolExecutor(1) as executor:
        third = executor.submit(bench.ask, "env-0")
        time.sleep(0.05)
        fakes["eval-1"].release()
        assert third.result(WAIT_SECONDS).result(WAIT_SECONDS).replica_id == "eval-1"
    fakes["eval-0"].release()
    for task in tasks:
        task.result(WAIT_SECONDS)


def test_B21_who_waits_at_home_goes_elsewhere_when_home_dies(runtime: InProcessRuntime) -> None:
    fakes = replicas(0.0, 0.0)
    bench = FakePool(runtime, fakes, HARD, TWO_NODES)
    fakes["eval-0"].hold()
    lost = bench.ask("env-0")
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(bench.ask, "env-0")
        time.sleep(0.05)
        bench.handles["eval-0"].kill()
        assert waiting.result(WAIT_SECONDS).result(WAIT_SECONDS).replica_id == "eval-1"
    assert lost.result(WAIT_SECONDS).replica_id == "eval-1"
    fakes["eval-0"].release()


def test_B23_one_node_with_all_environments_does_not_keep_all_work(
    runtime: InProcessRuntime,
) -> None:
    nodes: Mapping[str, Sequence[str]] = {
        "a": [f"env-{i}" for i in range(8)] + ["eval-0"],
        "b": ["eval-1"],
        "c": ["eval-2"],
        "d": ["eval-3"],
    }
    fakes = replicas(*[0.01] * 4)
    bench = FakePool(runtime, fakes, SOFT, nodes)
    tasks = [bench.ask(f"env-{i % 8}") for i in range(80)]
    answers = Counter(task.result(WAIT_SECONDS).replica_id for task in tasks)
    assert len(answers) == 4
    assert answers["eval-0"] <= 80 // 4 + 8, "a quarter, and one for each environment"


def test_B28_two_pools_send_an_environment_to_the_same_replica() -> None:
    for _ in range(2):
        with InProcessRuntime("threads") as runtime:
            bench = FakePool(runtime, replicas(0.0, 0.0), HARD, TWO_NODES)
            for env_id, home in (("env-0", "eval-0"), ("env-1", "eval-1"), ("env-0/3", "eval-0")):
                assert bench.ask(env_id).result(WAIT_SECONDS).replica_id == home


@BOTH_MODES
@pytest.mark.parametrize("num_replicas", [1, 4])
def test_B32_what_travels_from_step_to_step_is_neither_lost_nor_mixed_up(
    runtime: InProcessRuntime, routing: RoutingConfig, num_replicas: int
) -> None:
    """Replicas keep nothing between steps: the state goes out with the observation, comes back
    plus one with the action, and each of four environments counts its own steps."""
    bench = FakePool(runtime, replicas(*[0.001] * num_replicas), routing)
    seen: dict[str, list[int]] = {f"env-{i}": [] for i in range(4)}

    def live(env_id: str) -> None:
        state = 0
        for _ in range(10):
            state = int(bench.ask(env_id, value=state).result(WAIT_SECONDS).action[0])
            seen[env_id].append(state)

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(live, seen))
    assert list(seen.values()) == [list(range(1, 11))] * 4


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
    fakes = replicas(0.0, 0.0)
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
