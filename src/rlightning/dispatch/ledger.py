"""What each worker has in flight, counted by the sender, exactly."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterable

from rlightning.clock import Clock, monotonic_clock

MAX_LEASES_SHOWN = 8


class Outcome(enum.IntEnum):
    """How a call ended."""

    SUCCESS = 0
    FAILURE = 1
    CANCELLED = 2
    DIED = 3


class Account:
    """The leases of one worker; its lock is the only one that calls to the worker take.

    Attributes:
        worker_id: Whose account it is.
        incarnation: The newest one seen; leases of older ones count no more.
        leases: What is in flight at this incarnation, in the order in which it was taken.
        outcome_counts: How often each `Outcome` was given back, over all incarnations.
    """

    __slots__ = ("incarnation", "leases", "lock", "outcome_counts", "worker_id")

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id
        self.lock = threading.Lock()
        self.incarnation = 0
        self.leases: dict[Lease, None] = {}
        self.outcome_counts = [0] * len(Outcome)

    def free(self) -> int:
        """End all leases, under the lock; return how many there were."""
        num_freed = len(self.leases)
        self.leases.clear()
        self.outcome_counts[Outcome.DIED] += num_freed
        return num_freed

    def enter(self, lease: Lease) -> int:
        """Count a lease, under the lock; return how many it frees by a newer incarnation."""
        num_freed = 0
        if lease.incarnation > self.incarnation:
            num_freed = self.free()
            self.incarnation = lease.incarnation
        if lease.incarnation == self.incarnation:
            self.leases[lease] = None
        return num_freed


class Lease:
    """One call in flight, bound to an incarnation of its worker.

    Attributes:
        incarnation: That incarnation.
        description: What was sent, such as the name of the method.
        since_seconds: When it was taken, by the clock of the ledger.
    """

    __slots__ = ("_account", "_ledger", "description", "incarnation", "since_seconds")

    def __init__(
        self, ledger: Ledger, account: Account, incarnation: int, description: str, since: float
    ) -> None:
        self._ledger = ledger
        self._account = account
        self.incarnation = incarnation
        self.description = description
        self.since_seconds = since

    @property
    def worker_id(self) -> str:
        """The worker that the call was sent to."""
        return self._account.worker_id

    def give_back(self, outcome: Outcome) -> bool:
        """End the lease; False, and nothing changes, if it or its incarnation had ended."""
        account = self._account
        with account.lock:
            if self not in account.leases:
                return False
            del account.leases[self]
            account.outcome_counts[outcome] += 1
        for listener in self._ledger.listeners:
            listener(account.worker_id)
        return True


class Ledger:
    """Leases of all workers. Loads are read from here, never by asking a worker.

    Thread-safe, with one lock per worker. It knows no router, so a rebuilt router finds the true
    loads. Taking a lease, giving it back and reading a load cost O(1).

    Args:
        clock: Seconds, for the age of the leases.

    Attributes:
        listeners: Called with the id of a worker after leases of it ended, outside of all locks.
    """

    def __init__(self, clock: Clock = monotonic_clock) -> None:
        self._clock = clock
        self._accounts: dict[str, Account] = {}
        self.listeners: tuple[Callable[[str], object], ...] = ()
        self._adding_listener = threading.Lock()

    def take(self, worker_id: str, incarnation: int, description: str = "") -> Lease:
        """Return a new lease, whatever the load.

        The first lease of a newer incarnation frees those of the older ones. A lease of an older
        one has ended from the start: it counts nowhere.
        """
        account = self._account(worker_id)
        lease = Lease(self, account, incarnation, description, self._clock())
        with account.lock:
            num_freed = account.enter(lease)
        if num_freed:
            self._announce(worker_id)
        return lease

    def try_take(
        self, worker_id: str, incarnation: int, description: str, limit: int
    ) -> Lease | None:
        """Return a new lease as `take` does, or None if `limit` are in flight already.

        Looking and taking are one step: two threads never take the same last seat. The limit
        is asked of the newest incarnation alone.
        """
        account = self._account(worker_id)
        lease = Lease(self, account, incarnation, description, self._clock())
        with account.lock:
            if incarnation == account.incarnation:
                if len(account.leases) >= limit:
                    return None
                account.leases[lease] = None
                return lease
            num_freed = account.enter(lease)
        if num_freed:
            self._announce(worker_id)
        return lease

    def _account(self, worker_id: str) -> Account:
        found = self._accounts.get(worker_id)
        return found or self._accounts.setdefault(worker_id, Account(worker_id))

    def load(self, worker_id: str) -> int:
        """Return how many calls the worker has in flight; 0 for an unknown one."""
        account = self._accounts.get(worker_id)
        return 0 if account is None else len(account.leases)

    def loads(self, worker_ids: Iterable[str]) -> list[int]:
        """Return the load of each worker, in their order."""
        return [self.load(worker_id) for worker_id in worker_ids]

    def free_all(self, worker_id: str, incarnation: int) -> int:
        """End what a dead incarnation holds; return how many leases that were."""
        account = self._account(worker_id)
        with account.lock:
            num_freed = account.free() if incarnation == account.incarnation else 0
        if num_freed:
            self._announce(worker_id)
        return num_freed

    def on_release(self, callback: Callable[[str], object]) -> None:
        """Call `callback(worker_id)` after leases of a worker ended, outside of all locks."""
        with self._adding_listener:
            self.listeners = (*self.listeners, callback)

    def _announce(self, worker_id: str) -> None:
        for listener in self.listeners:
            listener(worker_id)

    def outcome_counts(self) -> dict[str, int]:
        """Return how often each outcome was given back, over all workers."""
        accounts = list(self._accounts.values())
        return {
            outcome.name.lower(): sum(account.outcome_counts[outcome] for account in accounts)
            for outcome in Outcome
        }

    def report(self) -> str:
        """Return who has what in flight and since when, as text for people."""
        now = self._clock()
        lines = ["in flight:"]
        for worker_id in sorted(self._accounts):
            account = self._accounts[worker_id]
            with account.lock:
                leases = list(account.leases)
            if leases:
                shown = [
                    f"{lease.description or 'a call'} since {now - lease.since_seconds:.1f} s"
                    for lease in leases[:MAX_LEASES_SHOWN]
                ]
                if len(leases) > MAX_LEASES_SHOWN:
                    shown.append(f"and {len(leases) - MAX_LEASES_SHOWN} more")
                name = f"{worker_id}#{leases[0].incarnation}"
                lines.append(f"  {name}: {len(leases)} ({', '.join(shown)})")
        return "\n".join(lines) if len(lines) > 1 else "in flight: nothing"

    def __repr__(self) -> str:
        loads = {worker_id: self.load(worker_id) for worker_id in sorted(self._accounts)}
        return f"<{type(self).__name__} loads {loads}, ended {self.outcome_counts()}>"
