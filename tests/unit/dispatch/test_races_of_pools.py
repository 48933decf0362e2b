"""Races between threads, made to happen every time by what a lock does before it is taken."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from rlightning.dispatch.idle_deque import IdleDeque
from rlightning.dispatch.node_routes import NodeRoutes
from rlightning.placement.topology import Topology


class MeddlingLock:
    """A lock before whose next taking something else happens once."""

    meddle: Callable[[], object] | None = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.release = self._lock.release

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        meddle, MeddlingLock.meddle = MeddlingLock.meddle, None
        if meddle is not None:
            meddle()
        return self._lock.acquire(blocking, timeout)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *details: object) -> None:
        self._lock.release()


def test_a_deque_that_another_thread_refilled_is_not_refilled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlightning.dispatch.idle_deque.Lock", MeddlingLock)
    policies = ["a", "b", "c"]
    pool = IdleDeque(policies, 1.0, lambda: 0.0)
    assert [pool.take() for _ in range(3)] == ["a", "b", "c"]
    others: list[str] = []
    MeddlingLock.meddle = lambda: others.append(pool.take())
    assert (pool.take(), others) == ("b", ["a"])
    # A second refill would have put "c" in twice, and one of them would outlive its removal.
    pool.remove(policies[2])
    assert [pool.take() for _ in range(4)] == ["a", "b", "a", "b"]


def test_a_node_that_lost_its_last_policy_meanwhile_falls_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlightning.dispatch.rotation.Lock", MeddlingLock)
    topology = Topology.from_component_distribution(
        {"n": {"eval": {"ids": [1]}, "env": {"ids": [0]}}}
    )
    policies = ["a", "b"]
    pool = NodeRoutes(policies, topology, None)
    assert pool.take("env-0") == "b"
    MeddlingLock.meddle = lambda: pool.remove(policies[1])
    assert pool.take("env-0") == "a"
    assert pool.decision_counts["local"] == 1
    assert pool.decision_counts["node_without_policy"] == 1
