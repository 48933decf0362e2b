"""Closing environment workers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from rlightning.clock import monotonic_clock
from rlightning.errors import RLightningError, TaskTimeoutError, WorkerDiedError
from rlightning.runtime.base import WorkerHandle

logger = logging.getLogger(__name__)


def close_workers(handles: Sequence[WorkerHandle], timeout_seconds: float) -> None:
    """Close the environments of all workers, at the same time, and end the workers.

    Args:
        handles: Whom; the dead ones have nothing left to close. One who can be ended even if
            he hangs, and does not close in time, is dead too.
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
        except WorkerDiedError:
            pass
        except RLightningError as error:
            if handle.can_end_a_hang and isinstance(error, TaskTimeoutError):
                logger.warning("%s does not close and is ended: %s", handle.worker_id, error)
            else:
                errors.append(error)
        handle.kill()
    if errors:
        raise errors[0]
