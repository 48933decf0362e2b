"""Which process a worker lives in."""

from __future__ import annotations

from rlightning.runtime.base import WorkerHandle


def process_id_of(handle: WorkerHandle) -> int:
    """Return the process of a worker.

    Raises:
        TypeError: If it has none of its own.
    """
    process_id = getattr(handle, "process_id", None)
    if not isinstance(process_id, int) or process_id <= 0:
        raise TypeError(f"expected a worker with a process of its own, got {handle!r}; use Ray")
    return process_id
