"""Callers that wait for room on one worker."""

from __future__ import annotations

import threading


class Ticket:
    """A caller's place in one or more lines; a caller that any of several may serve has many.

    Attributes:
        description: What it wants to send.
        since_seconds: When it began to wait.
    """

    __slots__ = ("_is_called", "description", "since_seconds")

    def __init__(self, description: str, since_seconds: float) -> None:
        self.description = description
        self.since_seconds = since_seconds
        self._is_called = threading.Event()

    def call(self) -> None:
        """Have the caller look again whether it can be served."""
        self._is_called.set()

    def begin_look(self) -> None:
        """Forget earlier calls; those from now on end the next `wait` at once."""
        self._is_called.clear()

    def wait(self, timeout_seconds: float) -> bool:
        """Wait to be called; False at the deadline."""
        return self._is_called.wait(timeout_seconds)


class WorkerQueue:
    """The line before one worker: first come, first served.

    Only the first in line may take a seat; whoever leaves the line calls the new first, so that
    no seat is forgotten.

    Attributes:
        wait_seconds: How long callers waited for this worker, summed.
    """

    __slots__ = ("_lock", "_tickets", "wait_seconds")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets: dict[Ticket, None] = {}
        self.wait_seconds = 0.0

    def __bool__(self) -> bool:
        return bool(self._tickets)

    def join(self, ticket: Ticket) -> None:
        """Stand at the end of the line, or stay where one stands."""
        with self._lock:
            self._tickets.setdefault(ticket)

    def leave(self, ticket: Ticket) -> None:
        """Leave the line, and call the new first."""
        with self._lock:
            self._tickets.pop(ticket, None)
        self.call_first()

    def is_open_to(self, ticket: Ticket | None) -> bool:
        """Return whether nobody stands before this caller."""
        with self._lock:
            return next(iter(self._tickets), ticket) is ticket

    def call_first(self) -> None:
        """Have the first in line look again."""
        with self._lock:
            first = next(iter(self._tickets), None)
        if first is not None:
            first.call()

    def add_wait(self, seconds: float) -> None:
        """Count the time that a served caller has waited."""
        with self._lock:
            self.wait_seconds += seconds

    def tickets(self) -> list[Ticket]:
        """Return the callers in line, the first one first."""
        with self._lock:
            return list(self._tickets)
