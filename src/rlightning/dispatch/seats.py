"""The seats of all workers: so many calls in flight at each, and lines before full ones."""

from __future__ import annotations

from rlightning.clock import Clock
from rlightning.dispatch.ledger import Lease, Ledger
from rlightning.dispatch.worker_queue import Ticket, WorkerQueue
from rlightning.runtime.base import WorkerHandle

MAX_CALLERS_SHOWN = 8


class Seats:
    """Takes seats in turn. Thread-safe, with one lock per worker.

    Attributes:
        ledger: Where a taken seat is a lease.
        clock: Seconds, the same as the ledger's.
        max_each: Seats of each worker.
        lobby: Callers whose set of workers may change while they wait.
    """

    def __init__(self, ledger: Ledger, clock: Clock, max_each: int) -> None:
        self.ledger = ledger
        self.clock = clock
        self.max_each = max_each
        self.lobby = WorkerQueue()
        self._queues: dict[str, WorkerQueue] = {}
        ledger.on_release(self._call_first)

    def queue(self, worker_id: str) -> WorkerQueue:
        """Return the line before a worker."""
        return self._queues.get(worker_id) or self._queues.setdefault(worker_id, WorkerQueue())

    def has_room(self, worker: WorkerHandle, ticket: Ticket | None = None) -> bool:
        """Return whether this caller could take a seat now."""
        queue = self._queues.get(worker.worker_id)
        if queue and not queue.is_open_to(ticket):
            return False
        return self.ledger.load(worker.worker_id) < self.max_each

    def try_take(
        self, worker: WorkerHandle, description: str, ticket: Ticket | None = None
    ) -> Lease | None:
        """Take a seat, or return None if there is none or others stand before this caller."""
        worker_id = worker.worker_id
        queue = self._queues.get(worker_id)
        if queue and not queue.is_open_to(ticket):
            return None
        return self.ledger.try_take(worker_id, worker.incarnation, description, self.max_each)

    def _call_first(self, worker_id: str) -> None:
        queue = self._queues.get(worker_id)
        if queue:
            queue.call_first()

    def wait_seconds(self) -> dict[str, float]:
        """Return, per worker, how long callers waited for it, summed."""
        return {name: queue.wait_seconds for name, queue in self._queues.copy().items()}

    def report(self) -> str:
        """Return what is in flight and who waits, as text for people."""
        lines = [self.ledger.report()]
        now = self.clock()
        for worker_id, queue in sorted(self._queues.copy().items()):
            tickets = queue.tickets()
            if tickets:
                shown = [
                    f"{ticket.description} since {now - ticket.since_seconds:.1f} s"
                    for ticket in tickets[:MAX_CALLERS_SHOWN]
                ]
                lines.append(f"  {len(tickets)} wait for {worker_id}: {', '.join(shown)}")
        return "\n".join(lines)
