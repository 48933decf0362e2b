"""One caller's search for a seat at one of several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from rlightning.dispatch.ledger import Lease
from rlightning.dispatch.seats import Seats
from rlightning.dispatch.worker_queue import Ticket, WorkerQueue
from rlightning.errors import DispatchError, DispatchTimeoutError
from rlightning.runtime.base import WorkerHandle

Choose: TypeAlias = Callable[[list[WorkerHandle]], WorkerHandle]
Candidates: TypeAlias = Callable[[], Sequence[WorkerHandle]]

MAX_WORKERS_SHOWN = 8


class SeatSearch:
    """Waits until any worker has room and chooses only then.

    A caller stands in the line of every candidate at once, takes the first seat to which its
    turn comes, and leaves all lines. The candidates are asked for anew at each look, so that
    workers may come and go while it waits.

    Args:
        seats: The seats of all workers.
        candidates: Returns the workers that may serve; asked at each look.
        choose: Returns one of the candidates that have room now.
        description: What is to be sent.
        may_change: Whether candidates come without a seat being returned.
    """

    def __init__(
        self,
        seats: Seats,
        candidates: Candidates,
        choose: Choose,
        description: str,
        *,
        may_change: bool = False,
    ) -> None:
        self._seats = seats
        self._candidates = candidates
        self._choose = choose
        self._description = description
        self._may_change = may_change
        self._lines: dict[str, WorkerQueue] = {}

    def find(self, timeout_seconds: float) -> tuple[WorkerHandle, Lease]:
        """Return the chosen worker and the lease of the seat.

        Raises:
            DispatchTimeoutError: If no turn came before the deadline; shows the ledger.
            DispatchError: If `choose` returns a worker that it was not offered.
        """
        return self._look(self._candidates(), None) or self._wait(timeout_seconds)

    def _wait(self, timeout_seconds: float) -> tuple[WorkerHandle, Lease]:
        clock = self._seats.clock
        ticket = Ticket(self._description, clock())
        deadline = ticket.since_seconds + timeout_seconds
        try:
            while True:
                ticket.begin_look()
                candidates = self._candidates()
                self._stand_in_line(ticket, [worker.worker_id for worker in candidates])
                found = self._look(candidates, ticket)
                if found is not None:
                    waited = clock() - ticket.since_seconds
                    self._seats.queue(found[0].worker_id).add_wait(waited)
                    return found
                if not ticket.wait(max(0.0, deadline - clock())):
                    raise DispatchTimeoutError(self._no_room(timeout_seconds, candidates))
        finally:
            self._stand_in_line(ticket, [])
            if self._may_change:
                self._seats.lobby.leave(ticket)

    def _stand_in_line(self, ticket: Ticket, worker_ids: Sequence[str]) -> None:
        """Leave the lines of workers that are no candidates any more and join the others."""
        if self._may_change:
            self._seats.lobby.join(ticket)
        for worker_id in self._lines.keys() - set(worker_ids):
            self._lines.pop(worker_id).leave(ticket)
        for worker_id in worker_ids:
            line = self._lines[worker_id] = self._seats.queue(worker_id)
            line.join(ticket)

    def _look(
        self, candidates: Iterable[WorkerHandle], ticket: Ticket | None
    ) -> tuple[WorkerHandle, Lease] | None:
        """Choose among those with room; again if the chosen one was taken meanwhile."""
        while True:
            free = [worker for worker in candidates if self._seats.has_room(worker, ticket)]
            if not free:
                return None
            worker = self._choose(list(free))
            if worker not in free:
                raise DispatchError(
                    f"expected one of {free} from the chooser, got {worker!r}; "
                    "return a worker of the list that it is given"
                )
            lease = self._seats.try_take(worker, self._description, ticket)
            if lease is not None:
                return worker, lease

    def _no_room(self, timeout_seconds: float, candidates: Sequence[WorkerHandle]) -> str:
        names = ", ".join(worker.worker_id for worker in candidates) or "no worker"
        activities = [worker.describe() for worker in candidates[:MAX_WORKERS_SHOWN]]
        return (
            f"expected room for {self._description}() at {names} within {timeout_seconds:g} s, "
            f"got none (at most {self._seats.max_each} in flight each); look below at what hangs, "
            "or raise its limit (env.timeout_seconds, routing.timeout_seconds)\n"
            + "\n".join([self._seats.report(), *activities])
        )
