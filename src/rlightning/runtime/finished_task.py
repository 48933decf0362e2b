"""A call that was answered before its task was handed out."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from rlightning.runtime.base import Task


class FinishedTask(Task[Any]):
    """The task of a call that ran on the caller's thread.

    Attributes:
        completion_number: Grows in the order in which the tasks of one runtime ended.
    """

    __slots__ = ("_error", "_traceback", "_value", "completion_number")

    _traceback: TracebackType | None

    def __init__(
        self,
        worker_id: str,
        method: str,
        value: Any,
        error: BaseException | None,
        completion_number: int,
    ) -> None:
        self.worker_id = worker_id
        self.method = method
        self.completion_number = completion_number
        self._value = value
        self._error = error
        if error is not None:
            self._traceback = error.__traceback__

    def is_done(self) -> bool:
        """Return True."""
        return True

    def result(self, timeout_seconds: float | None = None) -> Any:
        """Return the answer or raise the error of the call."""
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)
        return self._value

    def error(self) -> BaseException | None:
        """Return the error of the call, or None."""
        return self._error

    def cancel(self) -> bool:
        """Return False: it has run."""
        return False

    def add_done_callback(self, callback: Callable[[Task[Any]], object]) -> None:
        """Call `callback` at once."""
        callback(self)

    def __repr__(self) -> str:
        state = "done" if self._error is None else f"failed with {type(self._error).__name__}"
        return f"<{type(self).__name__} {self.worker_id}.{self.method}(), {state}>"
