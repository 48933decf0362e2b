"""Faults that users of other systems reported, of affinity to nodes, against whole pools."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlightning.config.routing_config import RoutingConfig
from rlightning.errors import DispatchTimeoutError
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import (
    fake_replicas,
)

WAIT_SECONDS = 30.0
HARD = RoutingConfig(mode="async", type="node_affinity")
SOFT = RoutingConfig(mode="async", type="node_affinity", spill_margin=0)


TWO_NODES = {"a": ["env-0", "eval-0"], "b": ["env-1", "eval-1"]}


def test_B21_with_soft_affinity_a_full_home_is_left_for_a_free_node(
    runtime: InProcessRuntime,
) -> None:
    fakes = fake_replicas(0.0, 0.0)
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
    fakes = fake_replicas(0.0, 0.0)
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
    fakes = fake_replicas(0.0, 0.0)
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
    fakes = fake_replicas(0.0, 0.0, 0.0)
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
    fakes = fake_replicas(0.0, 0.0)
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
    fakes = fake_replicas(*[0.01] * 4)
    bench = FakePool(runtime, fakes, SOFT, nodes)
    tasks = [bench.ask(f"env-{i % 8}") for i in range(80)]
    answers = Counter(task.result(WAIT_SECONDS).replica_id for task in tasks)
    assert len(answers) == 4
    assert answers["eval-0"] <= 80 // 4 + 8, "a quarter, and one for each environment"


def test_B28_two_pools_send_an_environment_to_the_same_replica() -> None:
    for _ in range(2):
        with InProcessRuntime("threads") as runtime:
            bench = FakePool(runtime, fake_replicas(0.0, 0.0), HARD, TWO_NODES)
            for env_id, home in (("env-0", "eval-0"), ("env-1", "eval-1"), ("env-0/3", "eval-0")):
                assert bench.ask(env_id).result(WAIT_SECONDS).replica_id == home
