"""The calls that wait for one worker thread, and which of them run next."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
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


def runnable_calls(calls: deque[QueuedCall]) -> list[QueuedCall]:
    """Return the calls that may run together now; several if they are gathered.

    A gathered run never goes beyond a call of another method. A gathered call whose arguments
    are not there yet is passed over by those of the same method: the answer that it waits for
    may depend on one of them, when that is a request that failed elsewhere and came later.
    """
    head = calls[0]
    if head.rule is None:
        return [head] if head.is_ready() else []
    found: list[QueuedCall] = []
    for call in calls:
        if call.task.method != head.task.method or len(found) == head.rule.max_batch_calls:
            break
        if call.is_ready():
            found.append(call)
    return found


class CallQueue:
    """First come, first served; a call whose arguments are missing holds up those behind it.

    Only gathered calls of one method pass over one of them whose arguments are missing.
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
                calls = runnable_calls(self._waiting) if self._waiting else []
                if not calls:
                    window_ends_at = None
                    self._changed.wait()
                    continue
                window_ends_at = window_ends_at or self._window_end()
                seconds = self._seconds_to_gather(len(calls), window_ends_at)
                if seconds <= 0:
                    self._take_out(calls)
                    self._in_hand = calls
                    break
                self._changed.wait(seconds)
            return self._in_hand

    def _take_out(self, calls: list[QueuedCall]) -> None:
        num_in_front = 0
        while num_in_front < len(calls) and self._waiting[0] is calls[num_in_front]:
            self._waiting.popleft()
            num_in_front += 1
        for call in calls[num_in_front:]:
            self._waiting.remove(call)

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
