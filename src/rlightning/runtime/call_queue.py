"""The calls that wait for one worker thread, and which of them run next."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rlightning.runtime.base import Task
from rlightning.runtime.gathered import GatherRule
from rlightning.runtime.queued_task import QueuedTask


@dataclass(frozen=True, slots=True, eq=False)
class QueuedCall:
    """A call with its arguments; `argument_tasks` are those of them that are tasks."""

    task: QueuedTask
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argument_tasks: list[Task[Any]]
    rule: GatherRule | None

    def is_ready(self) -> bool:
        """Return whether all arguments are there."""
        return all(task.is_done() for task in self.argument_tasks)


def num_runnable(calls: deque[QueuedCall]) -> int:
    """Return how many calls at the head may run together now: 0, 1, or more if gathered.

    A gathered run ends before a call of another method and before one whose arguments are not
    there yet, so that calls never overtake each other.
    """
    head = calls[0]
    if not head.is_ready():
        return 0
    if head.rule is None:
        return 1
    count = 1
    for call in islice(calls, 1, head.rule.max_batch_calls):
        if call.task.method != head.task.method or not call.is_ready():
            break
        count += 1
    return count


class CallQueue:
    """First come, first served; a call whose arguments are missing holds up those behind it.

    This cannot lock up: a call only waits for calls that were sent before it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[QueuedCall] = deque()
        self._in_hand: list[QueuedCall] = []
        self._is_closed = False

    def put(self, call: QueuedCall) -> bool:
        """Add a call at the end; False if the queue is closed."""
        with self._changed:
            if self._is_closed:
                return False
            self._waiting.append(call)
            self._changed.notify()
            return True

    def wake(self) -> None:
        """Look again: an argument has come or a call was cancelled."""
        with self._changed:
            self._changed.notify()

    def take(self) -> list[QueuedCall]:
        """Wait for the next calls to run together; an empty list once the queue is closed."""
        with self._changed:
            self._in_hand = []
            window_ends_at: float | None = None
            while not self._is_closed:
                while self._waiting and self._waiting[0].task.is_done():
                    self._waiting.popleft()
                count = num_runnable(self._waiting) if self._waiting else 0
                if not count:
                    window_ends_at = None
                    self._changed.wait()
                    continue
                window_ends_at = window_ends_at or self._window_end()
                seconds = self._seconds_to_gather(count, window_ends_at)
                if seconds <= 0:
                    self._in_hand = [self._waiting.popleft() for _ in range(count)]
                    break
                self._changed.wait(seconds)
            return self._in_hand

    def _window_end(self) -> float:
        rule = self._waiting[0].rule
        return time.monotonic() + (0.0 if rule is None else rule.window_seconds)

    def _seconds_to_gather(self, count: int, window_ends_at: float) -> float:
        rule = self._waiting[0].rule
        if rule is None or count == rule.max_batch_calls or count < len(self._waiting):
            return 0.0
        return window_ends_at - time.monotonic()

    def close(self) -> list[QueuedCall]:
        """Take no more calls; return those that have not begun."""
        with self._changed:
            self._is_closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._changed.notify()
            return waiting

    def calls_in_hand(self) -> list[QueuedCall]:
        """Return the calls that were taken last."""
        with self._changed:
            return list(self._in_hand)

    def __len__(self) -> int:
        return len(self._waiting)
