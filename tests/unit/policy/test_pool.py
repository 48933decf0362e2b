from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.errors import (
    DispatchTimeoutError,
    NoEvalPolicyError,
    RoutingTimeoutError,
    ShapeError,
    WorkerDiedError,
)
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.eventually import eventually
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import FakeReplica

WAIT_SECONDS = 30.0
ROUTERS = {
    "sync simple": RoutingConfig(mode="sync", type="simple"),
    "sync node_affinity": RoutingConfig(mode="sync", type="node_affinity"),
    "async simple": RoutingConfig(mode="async", type="simple"),
    "async node_affinity": RoutingConfig(mode="async", type="node_affinity"),
}


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


@pytest.fixture
def threads():
    with InProcessRuntime("threads") as runtime:
        yield runtime


@pytest.fixture(params=ROUTERS)
def routing(request) -> RoutingConfig:
    return ROUTERS[request.param]


def replicas(num: int, **options) -> dict[str, FakeReplica]:
    return {f"eval-{i}": FakeReplica(f"eval-{i}", **options) for i in range(num)}


def fails(number: int) -> Exception:
    return RuntimeError(f"broken at call {number}")


def test_every_request_is_answered_and_counted_once(runtime, routing) -> None:
    fakes = replicas(2)
    bench = FakePool(runtime, fakes, routing)
    answers = [bench.ask(f"env-{i % 3}", value=i).result(WAIT_SECONDS) for i in range(30)]
    assert [int(answer.action[0]) for answer in answers] == list(range(1, 31))
    counts = bench.pool.take_task_counts()
    assert sum(counts.values()) == 30
    assert counts == Counter((answer.env_id, answer.replica_id) for answer in answers)
    assert bench.pool.take_task_counts() == {}, "counts start anew once they were taken"
    assert bench.pool.loads() == {"eval-0": 0, "eval-1": 0}
    assert sum(bench.pool.membership.router_counts().values()) == 30
    assert bench.pool.router_wait_seconds() >= 0.0


def test_a_failed_request_goes_to_another_replica(runtime, routing) -> None:
    fakes = replicas(2)
    fakes["eval-0"] = FakeReplica("eval-0", before=fails)
    bench = FakePool(runtime, fakes, routing)
    answers = [bench.ask(value=i).result(WAIT_SECONDS) for i in range(8)]
    assert {answer.replica_id for answer in answers} == {"eval-1"}
    assert bench.pool.error_counts() == {"eval-0": 3}, "then it rests"
    assert bench.pool.loads() == {"eval-0": 0, "eval-1": 0}


def test_an_error_stands_when_nobody_else_is_left(runtime, routing) -> None:
    bench = FakePool(runtime, {"eval-0": FakeReplica("eval-0", before=fails)}, routing)
    task = bench.ask()
    with pytest.raises(RuntimeError, match="broken at call 1"):
        task.result(WAIT_SECONDS)
    assert bench.pool.loads() == {"eval-0": 0}


def test_the_failure_of_the_observation_is_blamed_on_nobody(runtime, routing) -> None:
    fakes = replicas(2)
    bench = FakePool(runtime, fakes, routing)
    lost = FinishedTask("env-0", "step", None, RuntimeError("the simulator crashed"), 0)
    for _ in range(5):
        with pytest.raises(RuntimeError, match="the simulator crashed"):
            bench.pool.act("env-0", lost).result(WAIT_SECONDS)
    assert bench.pool.error_counts() == {}
    assert [fake.served for fake in fakes.values()] == [[], []]
    assert len(bench.pool.membership.routable()) == 2


def test_a_bad_request_is_no_fault_of_the_replica(runtime, routing) -> None:
    refuse = lambda number: ShapeError("expected 4 numbers, got 3")  # noqa: E731
    fakes = replicas(2, before=refuse)
    bench = FakePool(runtime, fakes, routing)
    for _ in range(5):
        with pytest.raises(ShapeError):
            bench.ask().result(WAIT_SECONDS)
    assert sum(len(fake.served) for fake in fakes.values()) == 5, "it is not tried elsewhere"
    assert bench.pool.error_counts() == {}
    assert len(bench.pool.membership.routable()) == 2


def test_requests_go_round_a_dead_replica(runtime, routing) -> None:
    fakes = replicas(3)
    bench = FakePool(runtime, fakes, routing)
    bench.handles["eval-1"].kill()
    answers = [bench.ask().result(WAIT_SECONDS) for _ in range(9)]
    assert {answer.replica_id for answer in answers} <= {"eval-0", "eval-2"}
    assert bench.pool.error_counts().get("eval-1", 0) <= 1


def test_with_all_replicas_dead_the_error_says_so(runtime, routing) -> None:
    bench = FakePool(runtime, replicas(2), routing)
    for handle in bench.handles.values():
        handle.kill()
    with pytest.raises(NoEvalPolicyError, match="0 alive") as caught:
        bench.ask().result(WAIT_SECONDS)
    assert isinstance(caught.value.__cause__, WorkerDiedError)
    assert bench.pool.loads() == {}


def test_a_waiting_request_hears_that_the_last_replica_left(threads, routing) -> None:
    fakes = replicas(1)
    bench = FakePool(threads, fakes, routing.model_copy(update={"timeout_seconds": WAIT_SECONDS}))
    fakes["eval-0"].hold()
    first = bench.ask()
    errors: list[BaseException] = []

    def ask_and_wait() -> None:
        try:
            bench.ask().result(WAIT_SECONDS)
        except NoEvalPolicyError as error:
            errors.append(error)

    waiting = threading.Thread(target=ask_and_wait)
    waiting.start()
    bench.handles["eval-0"].kill()
    waiting.join(WAIT_SECONDS)
    fakes["eval-0"].release()
    assert len(errors) == 1
    with pytest.raises(NoEvalPolicyError):
        first.result(WAIT_SECONDS)


def test_a_waiting_request_hears_that_the_last_replica_was_removed(threads, routing) -> None:
    if routing == ROUTERS["sync node_affinity"]:
        pytest.skip("round robin chooses before it waits, as published")
    fakes = replicas(1)
    bench = FakePool(threads, fakes, routing.model_copy(update={"timeout_seconds": WAIT_SECONDS}))
    fakes["eval-0"].hold()
    first = bench.ask()
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(bench.ask)
        time.sleep(0.05)
        bench.pool.membership.remove(bench.pool.membership.members()[0])
        with pytest.raises(NoEvalPolicyError):
            waiting.result(WAIT_SECONDS)
    fakes["eval-0"].release()
    assert first.result(WAIT_SECONDS).replica_id == "eval-0", "what it had is still answered"


def test_requests_in_flight_at_a_replica_that_dies_are_answered_elsewhere(threads, routing) -> None:
    fakes = replicas(2)
    routing = routing.model_copy(update={"max_pending_tasks": 4})
    bench = FakePool(threads, fakes, routing)
    for fake in fakes.values():
        fake.hold()
    tasks = [bench.ask(f"env-{i}", value=i) for i in range(6)]
    assert sum(bench.pool.loads().values()) == 6
    bench.handles["eval-0"].kill()
    for fake in fakes.values():
        fake.release()
    answers = [task.result(WAIT_SECONDS) for task in tasks]
    assert [int(answer.action[0]) for answer in answers] == [1, 2, 3, 4, 5, 6]
    assert {answer.replica_id for answer in answers} == {"eval-1"}
    assert bench.pool.loads() == {"eval-1": 0}


def test_a_full_pool_refuses_at_its_deadline(threads, routing) -> None:
    fakes = replicas(2)
    bench = FakePool(threads, fakes, routing.model_copy(update={"timeout_seconds": 0.1}))
    for fake in fakes.values():
        fake.hold()
    tasks = [bench.ask(), bench.ask()]
    with pytest.raises((RoutingTimeoutError, DispatchTimeoutError), match="eval-0"):
        bench.ask()
    for fake in fakes.values():
        fake.release()
    for task in tasks:
        task.result(WAIT_SECONDS)
    assert bench.pool.loads() == {"eval-0": 0, "eval-1": 0}
    assert sum(bench.pool.take_task_counts().values()) == 2, "what was never sent is not counted"


def test_a_retry_waits_for_room_at_the_others(threads) -> None:
    fakes = replicas(2)
    fakes["eval-0"] = FakeReplica("eval-0", before=fails)
    bench = FakePool(threads, fakes, ROUTERS["async simple"])
    fakes["eval-1"].hold()
    blocker = _blocker_of(bench, "eval-1")
    task = bench.ask("env-0")
    eventually(lambda: bench.pool.error_counts() == {"eval-0": 2})
    assert not task.is_done()
    fakes["eval-1"].release()
    assert task.result(WAIT_SECONDS).replica_id == "eval-1"
    blocker.result(WAIT_SECONDS)


def _blocker_of(bench: FakePool, replica_id: str):
    """Return a request that came to a held replica because the other one fails."""
    blocker = bench.ask("env-9")
    eventually(lambda: blocker.present().worker_id == replica_id)
    return blocker


def test_a_retry_that_finds_no_room_in_time_ends_with_both_errors(threads) -> None:
    fakes = replicas(2)
    fakes["eval-0"] = FakeReplica("eval-0", before=fails)
    routing = RoutingConfig(mode="async", timeout_seconds=0.1)
    bench = FakePool(threads, fakes, routing)
    fakes["eval-1"].hold()
    blocker = _blocker_of(bench, "eval-1")
    with pytest.raises(DispatchTimeoutError) as caught:
        bench.ask("env-0").result(WAIT_SECONDS)
    assert isinstance(caught.value.__cause__, RuntimeError)
    fakes["eval-1"].release()
    blocker.result(WAIT_SECONDS)


def test_a_request_can_be_withdrawn_while_it_waits(threads, routing) -> None:
    fakes = replicas(1)
    bench = FakePool(threads, fakes, routing.model_copy(update={"max_pending_tasks": 2}))
    fakes["eval-0"].hold()
    running = bench.ask()
    eventually(lambda: fakes["eval-0"].served)
    waiting = bench.ask()
    assert waiting.cancel()
    assert not running.cancel()
    fakes["eval-0"].release()
    running.result(WAIT_SECONDS)
    assert bench.pool.loads() == {"eval-0": 0}
    assert bench.pool.error_counts() == {}


def test_many_threads_lose_no_request_and_no_lease(threads, routing) -> None:
    flaky = lambda number: RuntimeError("hiccup") if number % 7 == 0 else None  # noqa: E731
    fakes = {**replicas(3, before=flaky), "eval-2": FakeReplica("eval-2")}
    bench = FakePool(threads, fakes, routing.model_copy(update={"max_pending_tasks": 2}))
    answered: list[int] = []

    def live(env_id: str) -> None:
        for value in range(40):
            answered.append(int(bench.ask(env_id, value=value).result(WAIT_SECONDS).action[0]))

    environments = [threading.Thread(target=live, args=(f"env-{i}",)) for i in range(4)]
    for environment in environments:
        environment.start()
    for environment in environments:
        environment.join(2 * WAIT_SECONDS)
    assert Counter(answered) == dict.fromkeys(range(1, 41), 4)
    eventually(lambda: set(bench.pool.loads().values()) == {0})
    num_served = sum(len(fake.served) for fake in fakes.values())
    assert sum(bench.pool.take_task_counts().values()) == num_served
    assert sum(bench.pool.error_counts().values()) == num_served - 160


def test_hundreds_of_broken_replicas_are_tried_without_deep_recursion(routing) -> None:
    with InProcessRuntime("inline") as runtime:
        fakes = replicas(400, before=fails)
        fakes["eval-399"] = FakeReplica("eval-399")
        bench = FakePool(runtime, fakes, routing, limits=BreakerLimits(100, 1.0))
        assert bench.ask().result(WAIT_SECONDS).replica_id == "eval-399"
