"""The routers under many threads that interrupt each other as often as they can."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlightning.policy.utils.router import (
    NodeAffinityRouter,
    SimpleRouter,
    SyncNodeAffinityRouter,
    SyncRouter,
    SyncSimpleRouter,
    create_router,
)

TWO_BY_TWO: dict[str, Any] = {
    "a": {"eval": {"ids": [0, 1]}, "env": {"ids": list(range(0, 8, 2))}},
    "b": {"eval": {"ids": [2, 3]}, "env": {"ids": list(range(1, 8, 2))}},
}
NUM_THREADS = 64


@pytest.fixture
def _hasty_switches() -> Iterator[None]:
    """Let threads interrupt each other as often as the interpreter can."""
    interval_seconds = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval_seconds)


def in_threads(work: Callable[[int], object], num_threads: int = NUM_THREADS) -> None:
    """Run the work in all threads at once, and raise what any of them raised."""
    start_line = threading.Barrier(num_threads)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        start_line.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


@pytest.mark.usefixtures("_hasty_switches")
def test_full_rounds_are_exact_under_threads() -> None:
    router = SyncSimpleRouter(list("abcde"))
    chosen: list[str] = []
    in_threads(lambda _: chosen.extend([router.select_policy() for _ in range(100)]))
    assert Counter(chosen) == dict.fromkeys("abcde", NUM_THREADS * 100 // 5)
    assert router.decision_counts["balanced"] == NUM_THREADS * 100


@pytest.mark.usefixtures("_hasty_switches")
def test_full_rounds_of_every_node_are_exact_under_threads() -> None:
    router = SyncNodeAffinityRouter(list("wxyz"), TWO_BY_TWO)
    chosen: list[str] = []
    in_threads(lambda i: chosen.extend([router.select_policy(f"env-{i % 8}") for _ in range(100)]))
    assert Counter(chosen) == dict.fromkeys("wxyz", NUM_THREADS * 100 // 4)
    assert router.decision_counts["local"] == NUM_THREADS * 100


@pytest.mark.usefixtures("_hasty_switches")
@pytest.mark.parametrize("env_ids", [None, ["env-0", "x"]])
def test_threads_that_share_a_list_of_loads_lose_no_charge(env_ids: list[str] | None) -> None:
    router, loads = NodeAffinityRouter(TWO_BY_TWO), [0] * 4
    in_threads(lambda _: [router.assign(loads, 2, env_ids) for _ in range(10)])
    assert sum(loads) == sum(router.decision_counts.values()) == NUM_THREADS * 20
    if env_ids is None:
        assert max(loads) - min(loads) == 0


@pytest.mark.usefixtures("_hasty_switches")
def test_a_rotation_is_exact_under_threads() -> None:
    router = SimpleRouter(tie_break="rotating")
    chosen: list[int] = []
    in_threads(lambda _: chosen.extend([router.assign([0] * 4, 1)[0] for _ in range(20)]))
    assert Counter(chosen) == dict.fromkeys(range(4), NUM_THREADS * 5)


@pytest.mark.usefixtures("_hasty_switches")
@pytest.mark.parametrize("kind", ["simple", "node_affinity"])
def test_policies_come_and_go_while_others_select(kind: str) -> None:
    class Manager:
        def get_component_distribution(self) -> dict[str, Any]:
            return TWO_BY_TWO

    router = create_router("sync", kind, list("wxyz"), Manager())
    assert isinstance(router, SyncRouter)

    def work(number: int) -> None:
        visitor = object()
        for turn in range(30):
            if number % 8 == 0 and turn % 2 == 0:
                router.add_policy(visitor, "a")
            elif number % 8 == 0:
                router.remove_policy(visitor)
            assert router.select_policy(f"env-{number % 8}") is not None

    in_threads(work, num_threads=16)
    assert {router.select_policy(f"env-{i % 8}") for i in range(16)} == set("wxyz")
    assert sum(router.decision_counts.values()) == 16 * 30 + 16
