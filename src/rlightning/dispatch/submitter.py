"""Sends calls to workers, each of which has at most so many in flight."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.ledger import Lease, Ledger, Outcome
from rlightning.dispatch.seat_search import Candidates, Choose, SeatSearch
from rlightning.dispatch.seats import Seats
from rlightning.errors import (
    DispatchTypeError,
    DispatchValueError,
    TaskCancelledError,
    WorkerDiedError,
)
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.runtime.failures import FailureKind, failure_kind

DEFAULT_TIMEOUT_SECONDS = 60.0


class TaskSubmitter:
    """Sends each call with a lease, and waits while the worker is full.

    Thread-safe. There is one lock per worker and none for all: a full worker never delays a
    call to another. Callers of one worker are served in the order in which they began to wait.
    The lease is given back, once, when the task ends by an answer, an error, cancellation or
    death; after `task.result()` it is back.

    Args:
        max_pending_tasks_each_worker: Most calls in flight at one worker, at least 1.
        timeout_seconds: Longest wait for room.
        ledger: Where the leases are kept. Submitters that share one see all loads, and share
            the limit.
        clock: Seconds, for deadlines and reports.

    Raises:
        DispatchValueError: If the limit is below 1 or the timeout is not above 0.
        DispatchTypeError: If the limit is no integer or the timeout no number.
    """

    def __init__(
        self,
        max_pending_tasks_each_worker: int = 1,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        ledger: Ledger | None = None,
        clock: Clock = monotonic_clock,
    ) -> None:
        self.max_pending_tasks_each_worker = _checked_limit(max_pending_tasks_each_worker)
        self.timeout_seconds = _checked_timeout(timeout_seconds)
        self.ledger = Ledger(clock) if ledger is None else ledger
        self._seats = Seats(self.ledger, clock, self.max_pending_tasks_each_worker)

    def submit(self, worker: WorkerHandle, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Send a call to this worker, after a wait if it is full.

        Raises:
            DispatchTimeoutError: If there was no room before the deadline; shows the ledger.
        """
        lease = self._seats.try_take(worker, method)
        if lease is None:
            search = SeatSearch(self._seats, lambda: [worker], operator.itemgetter(0), method)
            _, lease = search.find(self.timeout_seconds)
        return _send(lease, worker, method, args, kwargs)

    def submit_over_limit(
        self, worker: WorkerHandle, method: str, /, *args: Any, **kwargs: Any
    ) -> Task[Any]:
        """Send a call at once, also to a worker that is full.

        For a call that those in flight wait for: they would never make room for it.
        """
        lease = self.ledger.take(worker.worker_id, worker.incarnation, method)
        return _send(lease, worker, method, args, kwargs)

    def submit_to_any(
        self,
        workers: Sequence[WorkerHandle] | Callable[[], Iterable[WorkerHandle]],
        choose: Choose,
        method: str,
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Task[Any]:
        """Wait until any living worker has room, choose one of those, and send the call to it.

        The call is bound to a worker only then, and the seat is taken in the same step. Callers
        that wait for the same workers are served in the order in which they came.

        Args:
            workers: Who may serve. A callable is asked again at each look, so that workers may
                join while the call waits; say so with `notify_workers_changed`.
            choose: Given a list of those with room, never empty; returns one of them. It is
                called under no lock, and again if its choice was taken meanwhile.
            method: Name of the method.
            *args: Arguments of the method.
            **kwargs: Arguments of the method.

        Raises:
            DispatchTimeoutError: If there was no room before the deadline; shows the ledger.
            DispatchValueError: If `workers` is an empty list.
            WorkerDiedError: If `workers` is a list and none of them is alive.
            DispatchError: If `choose` returns a worker that it was not given.
        """
        may_change = callable(workers)
        candidates = _living_now(workers) if callable(workers) else _living_of(workers)
        search = SeatSearch(self._seats, candidates, choose, method, may_change=may_change)
        worker, lease = search.find(self.timeout_seconds)
        return _send(lease, worker, method, args, kwargs)

    def notify_workers_changed(self) -> None:
        """Have callers that wait for any of several workers ask again who these are."""
        for ticket in self._seats.lobby.tickets():
            ticket.call()

    def has_room(self, worker: WorkerHandle) -> bool:
        """Return whether a call would be sent without a wait. Local and cheap."""
        return self._seats.has_room(worker)

    def load(self, worker: WorkerHandle) -> int:
        """Return how many calls the worker has in flight."""
        return self.ledger.load(worker.worker_id)

    def loads(self, workers: Iterable[WorkerHandle]) -> list[int]:
        """Return how many calls each worker has in flight, in their order."""
        return [self.ledger.load(worker.worker_id) for worker in workers]

    def num_waiting(self, worker: WorkerHandle) -> int:
        """Return how many callers wait for room at the worker."""
        return len(self._seats.queue(worker.worker_id).tickets())

    def wait_seconds(self) -> dict[str, float]:
        """Return, per worker id, how long callers waited for room, summed."""
        return self._seats.wait_seconds()

    def add_release_listener(self, callback: Callable[[], object]) -> None:
        """Call `callback()` whenever a lease has been given back, outside of all locks."""
        self.ledger.on_release(lambda _: callback())

    def report(self) -> str:
        """Return what is in flight and who waits for whom since when, as text for people."""
        return self._seats.report()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} at most {self.max_pending_tasks_each_worker} each, "
            f"{self.ledger!r}>"
        )


def _send(
    lease: Lease, worker: WorkerHandle, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Task[Any]:
    try:
        task = worker.call(method, *args, **kwargs)
    except BaseException:
        lease.give_back(Outcome.FAILURE)
        raise
    if task.is_done():
        _give_back(lease, task)
    else:
        task.add_done_callback(partial(_give_back, lease))
    return task


def _give_back(lease: Lease, task: Task[Any]) -> None:
    error = task.error()
    lease.give_back(Outcome.SUCCESS if error is None else _outcome(error, lease.worker_id))


def _outcome(error: BaseException, worker_id: str) -> Outcome:
    """Return how a failed call ended; what befell another worker is a failure of this call."""
    if isinstance(error, TaskCancelledError) and error.worker_id == worker_id:
        return Outcome.CANCELLED
    is_death = failure_kind(error, worker_id) is FailureKind.DEATH
    return Outcome.DIED if is_death else Outcome.FAILURE


def _living_of(workers: Sequence[WorkerHandle]) -> Candidates:
    if not workers:
        raise DispatchValueError("expected at least one worker to choose from, got none")

    def living() -> list[WorkerHandle]:
        alive = [worker for worker in workers if worker.is_alive()]
        if not alive:
            raise WorkerDiedError(
                f"expected a living worker, but all of {list(workers)} are dead; "
                "spawn them again, or give a callable that returns the present ones",
                worker_id=workers[0].worker_id,
            )
        return alive

    return living


def _living_now(workers: Callable[[], Iterable[WorkerHandle]]) -> Candidates:
    return lambda: [worker for worker in workers() if worker.is_alive()]


def _checked_limit(limit: int) -> int:
    expected = "expected max_pending_tasks_each_worker as a whole number of at least 1"
    try:
        number = operator.index(limit)
    except TypeError:
        raise DispatchTypeError(f"{expected}, got {limit!r}") from None
    if isinstance(limit, bool):
        raise DispatchTypeError(f"{expected}, got {limit!r}")
    if number < 1:
        raise DispatchValueError(f"{expected}, got {limit!r}")
    return number


def _checked_timeout(timeout_seconds: float) -> float:
    expected = "expected timeout_seconds as a number above 0"
    if isinstance(timeout_seconds, bool) or not isinstance(timeout_seconds, int | float):
        raise DispatchTypeError(f"{expected}, got {timeout_seconds!r}")
    if not (math.isfinite(timeout_seconds) and timeout_seconds > 0):
        raise DispatchValueError(f"{expected}, got {timeout_seconds!r}; every wait has a deadline")
    return float(timeout_seconds)
