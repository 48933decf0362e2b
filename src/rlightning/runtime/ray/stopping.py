"""Letting running calls finish."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

from rlightning.errors import TaskTimeoutError
from rlightning.runtime.base import Task
from rlightning.runtime.first_done import wait_first_done


class Stoppable(Protocol):
    """A worker that is being stopped."""

    worker_id: str

    def describe(self) -> str:
        """Return what is known here of the worker."""
        ...

    def activity(self) -> str:
        """Ask the worker what it is doing."""
        ...


def wait_until_idle(worker: Stoppable, tasks: Sequence[Task[Any]], timeout_seconds: float) -> None:
    """Wait until all tasks of a worker have ended.

    Raises:
        TaskTimeoutError: If one has not at the deadline; it says what the worker is doing.
    """
    deadline = time.monotonic() + timeout_seconds
    for task in tasks:
        left = max(0.0, deadline - time.monotonic())
        if not task.is_done() and not wait_first_done([task], left):
            raise TaskTimeoutError(
                f"expected {task.worker_id}.{task.method}() to end within {timeout_seconds} s, "
                f"but {worker.describe()}; its process is ended now",
                worker_id=worker.worker_id,
            )
