from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlightning.errors import RoutingTimeoutError
from rlightning.policy.utils.router import SyncSimpleRouter


class FakePolicy:
    """A policy that is busy while told so, and counts how often it was asked."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, is_busy: bool = False) -> None:
        self.name = name
        self.is_busy = is_busy
        self.num_asked = 0

    def is_available(self) -> bool:
        self.num_asked += 1
        return not self.is_busy

    def __repr__(self) -> str:
        return self.name


def fakes(busy: str) -> list[FakePolicy]:
    """One policy per letter; "b" is busy."""
    return [FakePolicy(f"P{i}", letter == "b") for i, letter in enumerate(busy)]


def ticking() -> Callable[[], float]:
    """A clock that moves on by a second with every look."""
    seconds = iter(range(10_000))
    return lambda: float(next(seconds))


def test_policies_are_handed_out_in_turn_whatever_the_env() -> None:
    router = SyncSimpleRouter(["a", "b", "c"])
    assert [router.select_policy() for _ in range(2)] == ["a", "b"]
    assert [router.select_policy("env-0") for _ in range(3)] == ["c", "a", "b"]
    assert router.decision_counts["balanced"] == 5
    assert router.decision_counts["balanced"] == 5
    assert router.decision_counts["local"] == 0


def test_a_busy_policy_is_skipped_and_asked_again_in_the_next_round() -> None:
    policies = fakes(".b.")
    router = SyncSimpleRouter(policies)
    assert [router.select_policy().name for _ in range(3)] == ["P0", "P2", "P0"]
    policies[1].is_busy = False
    assert [router.select_policy().name for _ in range(3)] == ["P1", "P2", "P0"]


def test_a_policy_is_asked_once_each_time_it_is_about_to_be_handed_out() -> None:
    policies = fakes("..")
    router = SyncSimpleRouter(policies)
    assert [policy.num_asked for policy in policies] == [0, 0]
    for _ in range(4):
        router.select_policy()
    assert [policy.num_asked for policy in policies] == [2, 2]


def test_no_policies_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="at least one policy"):
        SyncSimpleRouter([]).select_policy()


def test_all_busy_past_the_deadline_names_them_and_since_when() -> None:
    router = SyncSimpleRouter(fakes("bb"), timeout_seconds=3, clock=ticking())
    with pytest.raises(
        RoutingTimeoutError, match=r"eval policy 0 \(P0\) busy since 1\.000"
    ) as error:
        router.select_policy()
    assert "eval policy 1 (P1) busy since" in str(error.value)
    assert isinstance(error.value, TimeoutError)
    assert router.decision_counts["balanced"] == 0


def test_busy_since_is_forgotten_once_a_policy_was_idle() -> None:
    policies = fakes("b.")
    router = SyncSimpleRouter(policies, timeout_seconds=3, clock=ticking())
    router.select_policy()
    policies[0].is_busy = False
    assert router.select_policy().name == "P0"
    policies[0].is_busy = policies[1].is_busy = True
    with pytest.raises(RoutingTimeoutError) as error:
        router.select_policy()
    assert "busy since 1.000" not in str(error.value)


def test_a_timeout_of_zero_looks_once_and_gives_up() -> None:
    policies = fakes("bb")
    with pytest.raises(RoutingTimeoutError):
        SyncSimpleRouter(policies, timeout_seconds=0).select_policy()
    assert [policy.num_asked for policy in policies] == [1, 1]


@pytest.mark.parametrize("is_notified", [True, False])
def test_a_policy_that_becomes_free_ends_the_wait(is_notified: bool) -> None:
    policies = fakes("bb")
    router = SyncSimpleRouter(policies, timeout_seconds=30)
    chosen: list[Any] = []
    waiter = threading.Thread(target=lambda: chosen.append(router.select_policy()))
    waiter.start()
    while not policies[1].num_asked:
        pass
    policies[1].is_busy = False
    if is_notified:
        router.notify_available()
    waiter.join(timeout=20)
    assert chosen == [policies[1]]


def test_a_notice_during_the_look_is_not_slept_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlightning.dispatch.idle_deque.LOOK_EVERY_SECONDS", 30.0)
    looks: list[int] = []

    class Notifying:
        def is_available(self) -> bool:
            looks.append(1)
            router.notify_available()
            return len(looks) > 2

    router = SyncSimpleRouter([Notifying()], timeout_seconds=60)
    start_seconds = time.monotonic()
    assert isinstance(router.select_policy(), Notifying)
    assert time.monotonic() - start_seconds < 20


def test_a_policy_that_joins_ends_the_wait() -> None:
    router = SyncSimpleRouter(fakes("b"), timeout_seconds=30)
    chosen: list[Any] = []
    waiter = threading.Thread(target=lambda: chosen.append(router.select_policy()))
    waiter.start()
    router.add_policy("new", "any node")
    waiter.join(timeout=20)
    assert chosen == ["new"]


def test_the_last_busy_policy_that_leaves_ends_the_wait_with_an_error() -> None:
    policies = fakes("b")
    router = SyncSimpleRouter(policies, timeout_seconds=30)
    errors: list[BaseException] = []

    def select() -> None:
        try:
            router.select_policy()
        except ValueError as error:
            errors.append(error)

    waiter = threading.Thread(target=select)
    waiter.start()
    while not policies[0].num_asked:
        pass
    router.remove_policy(policies[0])
    waiter.join(timeout=20)
    assert "at least one policy" in str(errors[0])


def test_policies_join_the_round_that_runs_and_leave_it() -> None:
    router = SyncSimpleRouter(["a", "b", "c"])
    assert router.select_policy() == "a"
    router.add_policy("d")
    router.remove_policy("b")
    router.remove_policy("a")
    assert [router.select_policy() for _ in range(5)] == ["c", "d", "c", "d", "c"]
    assert "['c', 'd']" in repr(router)
    assert "'balanced': 6" in repr(router)


def test_the_same_object_twice_is_refused_and_equal_objects_are_not() -> None:
    policy = FakePolicy("P0")
    with pytest.raises(ValueError, match="at position 0 and again at position 2"):
        SyncSimpleRouter([policy, FakePolicy("P1"), policy])
    router = SyncSimpleRouter([[], []])
    assert router.select_policy() is not router.select_policy()
    router.add_policy(policy)
    with pytest.raises(ValueError, match="P0 a second time"):
        router.add_policy(policy)
    with pytest.raises(ValueError, match="one of the router's 3 policies"):
        router.remove_policy([])


@pytest.mark.parametrize("eval_policies", [None, 3, "ab", {"a"}, iter(())])
def test_policies_that_are_no_sequence_are_refused(eval_policies: Any) -> None:
    with pytest.raises(TypeError, match="eval_policies as a sequence"):
        SyncSimpleRouter(eval_policies)


@pytest.mark.parametrize(
    ("timeout_seconds", "error"),
    [
        (-1, ValueError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        (None, TypeError),
        ("1", TypeError),
        (True, TypeError),
    ],
)
def test_a_timeout_that_is_no_deadline_is_refused(
    timeout_seconds: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="timeout_seconds"):
        SyncSimpleRouter([], timeout_seconds=timeout_seconds)


def test_a_seed_begins_elsewhere_and_keeps_the_order() -> None:
    def first_round(seed: int) -> Iterator[str]:
        router = SyncSimpleRouter(list("abcd"), tie_break="rotating", start_offset_seed=seed)
        return (router.select_policy() for _ in range(4))

    rounds = {"".join(first_round(seed)) for seed in range(16)}
    assert rounds == {"abcd", "bcda", "cdab", "dabc"}


class BusyOnceLock:
    """A lock that another thread seems to hold when it is first asked for without waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.num_refusals = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking and not self.num_refusals:
            self.num_refusals += 1
            return False
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *args: object) -> None:
        self.release()


def test_a_refill_by_another_thread_is_let_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    locks: list[BusyOnceLock] = []

    def create_lock() -> BusyOnceLock:
        locks.append(BusyOnceLock())
        return locks[-1]

    monkeypatch.setattr("rlightning.dispatch.idle_deque.Lock", create_lock)
    router = SyncSimpleRouter(["P0", "P1"])
    assert [router.select_policy() for _ in range(4)] == ["P0", "P1", "P0", "P1"]
    assert [lock.num_refusals for lock in locks] == [1]
