"""Waiting for environment workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlightning.runtime.base import Runtime, Task


def wait_all(runtime: Runtime, tasks: Iterable[Task[Any]], timeout_seconds: float) -> None:
    """Wait until all tasks are done, each at most so long after the one before.

    Raises:
        TaskTimeoutError: If no further one is done in time.
    """
    pending = [task for task in tasks if not task.is_done()]
    while pending:
        _, pending = runtime.wait_any(pending, timeout_seconds)
