"""Calls that went to an actor together, until their status is back."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import ray

from rlightning.runtime.ray.waiting_calls import RayCall

if TYPE_CHECKING:
    from rlightning.runtime.ray.ray_worker import RayWorker


class SentCalls:
    """One run at the actor: of one call, or of several of a gathered method.

    Attributes:
        calls: In the order of their answers.
        reference: Of the status.
        status: Will hold the status, or Ray's error.
    """

    __slots__ = ("_is_settled", "_lock", "_worker", "calls", "reference", "status")

    reference: ray.ObjectRef[Any]
    status: Future[Any]

    def __init__(self, worker: RayWorker, calls: Sequence[RayCall]) -> None:
        self._worker = worker
        self.calls = calls
        self._lock = threading.Lock()
        self._is_settled = False

    @property
    def is_gathered(self) -> bool:
        """Whether this is a run of a gathered method."""
        return self.calls[0].rule is not None

    def __str__(self) -> str:
        return f"{self.calls[0].task.method}()"

    def settle(self, status: bytes | None = None) -> None:
        """End the tasks by what the status says; only the first to come does it.

        Args:
            status: If it has been fetched; otherwise `self.status` has ended.
        """
        with self._lock:
            if self._is_settled:
                return
            self._is_settled = True
        error = None if status is not None else self.status.exception()
        if error is None:
            self._worker.answered(self, status or self.status.result())
        else:
            self._worker.unanswered(self, error)
