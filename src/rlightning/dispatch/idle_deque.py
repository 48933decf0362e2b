"""The deque from which idle policies are handed out, and the wait when all are busy."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Lock
from typing import Any

import numpy as np

from rlightning.clock import Clock
from rlightning.dispatch.atomic_counter import AtomicCounter
from rlightning.dispatch.availability import ask_availability, find_availability_check
from rlightning.dispatch.decision_counts import BALANCED, no_decisions
from rlightning.dispatch.policy_pool import PolicyPool
from rlightning.dispatch.policy_pool_errors import (
    absent_policy_error,
    no_policies_error,
    present_policy_error,
    short_repr,
)
from rlightning.dispatch.tie_break import rotated_to_start
from rlightning.errors import RoutingTimeoutError, RoutingTypeError, RoutingValueError

LOOK_EVERY_SECONDS = 0.010
"""A waiting thread looks this often, should nobody notify it."""


class IdleEntry:
    """A policy's place in the deque.

    Attributes:
        policy: The policy.
        eval_id: Its position among the eval policies, for messages.
        is_available: Its own answer, or None if it is always idle.
        busy_since_seconds: Time of the first look that found it busy, None when it was idle last.
    """

    __slots__ = ("busy_since_seconds", "eval_id", "is_available", "policy")

    def __init__(self, policy: Any, eval_id: int) -> None:
        """Look up, once, whether the policy can say that it is busy."""
        self.policy = policy
        self.eval_id = eval_id
        self.is_available = find_availability_check(policy)
        self.busy_since_seconds: float | None = None

    def __str__(self) -> str:
        """Name the policy for a message."""
        return f"eval policy {self.eval_id} ({short_repr(self.policy)})"


class IdleDeque(PolicyPool):
    """Hands out policies in rounds; skips busy ones; waits while all are busy.

    Safe from many threads. Entries leave by `deque.popleft`, a single step that no other thread
    can interrupt, so that handing out takes no lock and every round is exact. The lock guards
    what happens once per round: refilling, and policies that come and go. Policies are asked
    outside it.
    """

    def __init__(
        self,
        policies: Sequence[Any],
        timeout_seconds: float,
        clock: Clock,
        start_seed: int | None = None,
    ) -> None:
        """Begin with the first policy, or at the start offset of the seed.

        Raises:
            RoutingTypeError: If the timeout is no number.
            RoutingValueError: If it is negative or not finite.
        """
        self._timeout_seconds = _checked_timeout(timeout_seconds)
        self._clock = clock
        self._changed = Condition(Lock())
        self._num_changes = 0
        self._num_waiting = 0
        self._num_added = len(policies)
        entries = [IdleEntry(policy, eval_id) for eval_id, policy in enumerate(policies)]
        self._entries = tuple(rotated_to_start(entries, start_seed))
        self._idle = deque(self._entries)
        self._pop = self._idle.popleft
        self._num_taken = AtomicCounter()

    @property
    def decision_counts(self) -> dict[str, int]:
        """All decisions are balanced."""
        return no_decisions() | {BALANCED: self._num_taken.value}

    def describe(self) -> str:
        """Return the policies, in order."""
        return f"policies={short_repr([entry.policy for entry in self._entries])}"

    def add(self, policy: Any, node_id: str | None = None) -> None:
        """Let a policy join, last in the round that runs; its node does not matter.

        Raises:
            RoutingValueError: If this very object is there already.
        """
        with self._changed:
            if any(entry.policy is policy for entry in self._entries):
                raise present_policy_error(policy)
            entry = IdleEntry(policy, self._num_added)
            self._num_added += 1
            self._entries += (entry,)
            self._idle.append(entry)
            self._announce()

    def remove(self, policy: Any) -> None:
        """Let a policy leave; no later call hands it out.

        Raises:
            RoutingValueError: If it is not there.
        """
        with self._changed:
            leaving = [entry for entry in self._entries if entry.policy is policy]
            if not leaving:
                raise absent_policy_error(policy, len(self._entries))
            self._entries = tuple(entry for entry in self._entries if entry.policy is not policy)
            with suppress(ValueError):
                self._idle.remove(leaving[0])
            self._announce()

    def notify(self) -> None:
        """Wake those who wait, because a policy may have become available.

        Called whenever a task ends, so it takes the lock only while somebody waits.
        """
        # Of two changes at once one may go uncounted; a waiter that misses both looks again soon.
        self._num_changes += 1
        if self._num_waiting:
            with self._changed:
                self._changed.notify_all()

    def take(self, env_id: str | None = None) -> Any:
        """Return the next idle policy, whatever the env. O(1) amortised while all are idle.

        Raises:
            RoutingValueError: If there are no policies.
            RoutingTimeoutError: If all stay busy past the deadline.
            RoutingError: If a policy fails to say whether it is available.
        """
        try:
            entry = self._pop()
        except IndexError:
            entry = self._next_entry()
        if entry.is_available is not None:
            num_changes, now_seconds = self._num_changes, self._clock()
            if not self._is_idle(entry):
                deadline_seconds = now_seconds + self._timeout_seconds
                entry = self._wait_for_idle(entry, num_changes, deadline_seconds)
        self._num_taken.increment()
        return entry.policy

    def _wait_for_idle(
        self, busy_entry: IdleEntry, num_changes: int, deadline_seconds: float
    ) -> IdleEntry:
        """Return the first entry after a busy one that says that it is idle."""
        entry = busy_entry
        busy = {entry}
        while True:
            if len(busy) >= len(self._entries) and busy.issuperset(self._entries):
                self._wait(deadline_seconds, num_changes)
                busy.clear()
                num_changes = self._num_changes
            entry = self._next_entry()
            if self._is_idle(entry):
                return entry
            busy.add(entry)

    def _next_entry(self) -> IdleEntry:
        while True:
            try:
                return self._pop()
            except IndexError:
                self._refill()

    def _refill(self) -> None:
        # Threads that blocked here would hand lock and interpreter to each other ever after;
        # whoever finds another one at it lets that one finish and looks again.
        if not self._changed.acquire(blocking=False):
            time.sleep(0)
            return
        try:
            if not self._entries:
                raise no_policies_error()
            if not self._idle:
                self._idle.extend(self._entries)
        finally:
            self._changed.release()

    def _is_idle(self, entry: IdleEntry) -> bool:
        if entry.is_available is None:
            return True
        if ask_availability(entry.is_available, entry):
            entry.busy_since_seconds = None
            return True
        if entry.busy_since_seconds is None:
            entry.busy_since_seconds = self._clock()
        return False

    def _wait(self, deadline_seconds: float, num_changes: int) -> None:
        left_seconds = deadline_seconds - self._clock()
        if left_seconds <= 0:
            raise self._timeout_error()
        with self._changed:
            self._num_waiting += 1
            # A notice that came since the last look began must not be slept through.
            if self._num_changes == num_changes:
                self._changed.wait(min(LOOK_EVERY_SECONDS, left_seconds))
            self._num_waiting -= 1

    def _announce(self) -> None:
        self._num_changes += 1
        self._changed.notify_all()

    def _timeout_error(self) -> RoutingTimeoutError:
        now_seconds = self._clock()
        busy = [
            f"{entry} busy since {since:.3f} ({now_seconds - since:.3f} s)"
            for entry in self._entries
            if (since := entry.busy_since_seconds) is not None
        ]
        return RoutingTimeoutError(
            f"expected an available policy within {self._timeout_seconds} s, got only busy ones: "
            f"{'; '.join(busy)}; add policies, raise timeout_seconds, or look into what they do"
        )


def _checked_timeout(timeout_seconds: Any) -> float:
    is_number = isinstance(timeout_seconds, (int, float, np.integer, np.floating))
    if not is_number or isinstance(timeout_seconds, bool):
        raise RoutingTypeError(
            f"expected timeout_seconds as a number, got {timeout_seconds!r} of type "
            f"{type(timeout_seconds).__name__}; pass seconds"
        )
    if not (math.isfinite(timeout_seconds) and timeout_seconds >= 0):
        raise RoutingValueError(
            f"expected finite timeout_seconds >= 0, got {timeout_seconds}; "
            "every wait has a deadline: pass a large number for a long one"
        )
    return float(timeout_seconds)
