"""A worker that died or failed for good, and what is known of its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rlightning.errors import WorkerDiedError, WorkerLostError
from rlightning.runtime.base import WorkerHandle


@dataclass(frozen=True, slots=True)
class LostWorker:
    """One incarnation that is dead, or of no more use.

    Attributes:
        handle: Of that incarnation.
        cause: The error in which its end was seen.
        last_sign: What it was doing when it was last heard of.
    """

    handle: WorkerHandle
    cause: BaseException
    last_sign: str

    @classmethod
    def seen_in(cls, handle: WorkerHandle, cause: BaseException) -> Self:
        """Return the record of a death that was just found out in an error."""
        return cls(handle, cause, handle.describe())

    @classmethod
    def found_dead(cls, handle: WorkerHandle) -> Self:
        """Return the record of a worker that died while nobody waited for it."""
        name = handle.worker_id
        return cls.seen_in(handle, WorkerDiedError(f"{name} has died", worker_id=name))

    @property
    def worker_id(self) -> str:
        """Its id, which the next incarnation takes over."""
        return self.handle.worker_id

    def told_cause(self) -> str:
        """Return the cause as text, with its traceback in the worker if it has one."""
        notes = getattr(self.cause, "__notes__", ())
        return "\n".join([f"{type(self.cause).__name__}: {self.cause}", *notes])

    def error(self, why: str, *, remedy: str) -> WorkerLostError:
        """Return the error that ends a run, for want of this worker.

        Args:
            why: Why it does not come back.
            remedy: What a person can do.
        """
        handle = self.handle
        got = "its death" if isinstance(self.cause, WorkerDiedError) else "an error of it"
        error = WorkerLostError(
            f"expected worker {handle.worker_id!r} (incarnation {handle.incarnation}, node "
            f"{handle.node_id or 'unknown'}) to live on, got {got}, and {why}; cause: "
            f"{type(self.cause).__name__}: {self.cause}; last sign of life: {self.last_sign}; "
            f"{remedy}",
            worker_id=handle.worker_id,
        )
        error.__cause__ = self.cause
        return error
