"""Closing environment workers."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.clock import monotonic_clock
from rlightning.errors import RLightningError, WorkerDiedError
from rlightning.runtime.base import WorkerHandle


def close_workers(handles: Sequence[WorkerHandle], timeout_seconds: float) -> None:
    """Close the environments of all workers, at the same time, and end the workers.

    Args:
        handles: Whom; the dead ones have nothing left to close.
        timeout_seconds: Longest wait for all of them together.

    Raises:
        RLightningError: The first error, after all others were closed.
    """
    errors: list[RLightningError] = []
    deadline = monotonic_clock() + timeout_seconds
    living = [handle for handle in handles if handle.is_alive()]
    for handle, task in [(handle, handle.call("close")) for handle in living]:
        try:
            task.result(max(0.0, deadline - monotonic_clock()))
        except RLightningError as error:
            if not isinstance(error, WorkerDiedError):
                errors.append(error)
        handle.kill()
    if errors:
        raise errors[0]
