"""Ends workers that do not answer within their limit: frozen ones, and those that hang."""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from rlightning.clock import Clock, monotonic_clock
from rlightning.runtime.ray.overdue import Limited, Overdue, TurnClock
from rlightning.runtime.worker_object import IDLE

logger = logging.getLogger(__name__)

MAX_LOOK_SECONDS = 1.0
MIN_LOOK_SECONDS = 0.02
LOOKS_EACH_LIMIT = 8
LONGEST_GAP_IN_LOOKS = 3.0

SECONDS_BEYOND_TWO_LIMITS = 10.0
"""For looking, asking and ending."""


class Endable(Limited, Protocol):
    """A worker with a limit that can be ended from outside."""

    worker_id: str

    def is_alive(self) -> bool:
        """Return whether it takes calls."""
        ...

    def activity(self) -> str:
        """Ask it what it is doing; for a while."""
        ...

    def seconds_since_a_sign(self) -> float:
        """Return how long ago it was last heard of."""
        ...

    def kill(self, reason: str) -> None:
        """End the process and all its calls, for this reason."""
        ...


def longest_wait(limit_seconds: float | None) -> float | None:
    """Return how long to wait for a call, at most: a worker that hangs is ended before that.

    It allows for a call before it that takes all its time.

    Args:
        limit_seconds: Of one call; None for no limit.
    """
    return None if limit_seconds is None else 2.0 * limit_seconds + SECONDS_BEYOND_TWO_LIMITS


class CallLimits:
    """A daemon thread that looks at all workers of a runtime; it starts with the first of them.

    A worker over its limit is ended on a thread of its own, because it is asked first what it is
    doing, and a frozen one lets that wait.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Clock = monotonic_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._workers: dict[Endable, None] = {}
        self._handled: set[Endable] = set()
        self._is_stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, worker: Endable) -> None:
        """Hold one more worker to its limit, if it has one, until it is dead."""
        if worker.limit_seconds is None:
            return
        with self._lock:
            self._workers[worker] = None
            if self._thread is None and not self._is_stopped.is_set():
                self._thread = threading.Thread(target=self._main, name="call-limits", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._is_stopped.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _main(self) -> None:
        look_seconds = self._look_seconds()
        turns: TurnClock[Endable] = TurnClock(LONGEST_GAP_IN_LOOKS * look_seconds)
        while not self._is_stopped.wait(look_seconds):
            for overdue in turns.look(self._living(), self._clock()):
                self._end(overdue)
            look_seconds = min(look_seconds, self._look_seconds())

    def _living(self) -> list[Endable]:
        with self._lock:
            self._workers = {each: None for each in self._workers if each.is_alive()}
            return list(self._workers)

    def _look_seconds(self) -> float:
        with self._lock:
            limits = [each.limit_seconds for each in self._workers]
        shortest = min((limit for limit in limits if limit is not None), default=MAX_LOOK_SECONDS)
        return min(MAX_LOOK_SECONDS, max(MIN_LOOK_SECONDS, shortest / LOOKS_EACH_LIMIT))

    def _end(self, overdue: Overdue[Endable]) -> None:
        worker = overdue.worker
        with self._lock:
            if worker in self._handled:
                return
            self._handled.add(worker)
        name = f"end-{worker.worker_id}"
        threading.Thread(target=self._end_slowly, args=(overdue,), name=name, daemon=True).start()

    def _end_slowly(self, overdue: Overdue[Endable]) -> None:
        try:
            end_if_silent(overdue)
        except Exception:
            logger.exception("ending %s, which does not answer, failed", overdue.worker.worker_id)
        finally:
            with self._lock:
                self._handled.discard(overdue.worker)


def end_if_silent(overdue: Overdue[Endable]) -> None:
    """Ask a worker what it is doing, and end it unless it answers its call at that moment.

    The answer of one that is idle is on its way; it is given its limit once more for that.
    """
    worker, limit_seconds = overdue.worker, overdue.worker.limit_seconds
    activity = worker.activity()
    if worker.run_in_turn() is not overdue.run or limit_seconds is None:
        return
    if activity == IDLE and overdue.seconds <= 2.0 * limit_seconds:
        return
    worker.kill(
        f"did not answer {overdue.run} within {limit_seconds:g} s, frozen or hung; last sign of "
        f"life {worker.seconds_since_a_sign():.1f} s ago; asked now, it says: {activity}"
    )
