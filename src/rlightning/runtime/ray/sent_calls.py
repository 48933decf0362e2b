"""Calls that went to an actor together, until their status is back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ray

from rlightning.clock import monotonic_clock
from rlightning.runtime.ray.waiting_calls import RayCall

if TYPE_CHECKING:
    from rlightning.runtime.ray.ray_worker import RayWorker


class SentCalls:
    """One run at the actor: of one call, or of several of a gathered method.

    Attributes:
        calls: In the order of their answers.
        reference: Of the status.
        sent_at: When it was made, in seconds of the clock.
    """

    __slots__ = ("_is_settled", "_lock", "_worker", "calls", "reference", "sent_at")

    reference: ray.ObjectRef[Any]

    def __init__(self, worker: RayWorker, calls: Sequence[RayCall]) -> None:
        self._worker = worker
        self.calls = calls
        self._lock = threading.Lock()
        self._is_settled = False
        self.sent_at = monotonic_clock()

    @property
    def is_gathered(self) -> bool:
        """Whether this is a run of a gathered method."""
        return self.calls[0].rule is not None

    def __str__(self) -> str:
        return f"{self.calls[0].task.method}()"

    def settle(self, status: bytes | BaseException) -> Callable[[], object] | None:
        """End the tasks by what the actor or Ray says; only the first to come does it.

        Returns:
            What sends the calls that have waited for this run to end.
        """
        with self._lock:
            if self._is_settled:
                return None
            self._is_settled = True
        if isinstance(status, BaseException):
            self._worker.unanswered(self, status)
        else:
            self._worker.answered(self, status)
        return self._worker.wake
