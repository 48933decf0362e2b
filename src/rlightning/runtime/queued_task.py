"""A call that waits in the queue of a worker thread."""

from __future__ import annotations

import enum
import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

from rlightning.errors import TaskCancelledError, TaskTimeoutError
from rlightning.runtime.base import Task

logger = logging.getLogger(__name__)

DoneCallback = Callable[[Task[Any]], object]


class Sender(Protocol):
    """What a task needs from the worker to which it was sent."""

    worker_id: str
    call_timeout_seconds: float | None

    def describe(self) -> str:
        """Return what the worker does now, for a message."""
        ...

    def next_completion_number(self) -> int:
        """Return a number that grows with every task that ends."""
        ...

    def wake(self, task: Task[Any] | None = None) -> None:
        """Look at the queue again."""
        ...


class State(enum.Enum):
    """The life of a queued call."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


class QueuedTask(Task[Any]):
    """The task of a call that another thread runs.

    Whoever ends it (answer, error, cancellation, death) does so once; what comes later is
    dropped. The done callbacks run before `result` returns to anybody, so that what they give
    back, such as the lease of a seat, is back by then.

    Attributes:
        completion_number: Grows in the order in which the tasks of one runtime ended; -1 before.
        num_looks: How often a wait for any of several tasks has looked at it.
    """

    __slots__ = (
        "_callbacks",
        "_ending_thread",
        "_error",
        "_is_published",
        "_lock",
        "_publication",
        "_sender",
        "_state",
        "_traceback",
        "_value",
        "completion_number",
        "num_looks",
    )

    def __init__(self, sender: Sender, method: str) -> None:
        self.worker_id = sender.worker_id
        self.method = method
        self.completion_number = -1
        self.num_looks = 0
        self._sender = sender
        self._lock = threading.Lock()
        self._is_published = False
        self._publication: threading.Event | None = None  # most tasks are waited for by nobody
        self._state = State.WAITING
        self._callbacks: list[DoneCallback] = []
        self._ending_thread: int | None = None
        self._value: Any = None
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None

    def is_done(self) -> bool:
        """Return whether it was answered, failed or was cancelled."""
        return self._state is State.DONE

    def has_begun(self) -> bool:
        """Return whether the method runs or the task is done."""
        return self._state is not State.WAITING

    def error(self) -> BaseException | None:
        """Return the error of the call; None if there is none or it is not done."""
        return self._error

    def result(self, timeout_seconds: float | None = None) -> Any:
        """Wait for the answer; None takes the worker's `call_timeout_seconds`."""
        if self._ending_thread != threading.get_ident():
            seconds = timeout_seconds
            if seconds is None:
                seconds = self._sender.call_timeout_seconds
            if not self._wait_until_published(seconds):
                raise TaskTimeoutError(self._no_answer(seconds), worker_id=self.worker_id)
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)
        return self._value

    def _wait_until_published(self, seconds: float | None) -> bool:
        if self.is_published():
            return True
        with self._lock:
            publication = self._publication or threading.Event()
            self._publication = publication
        # Looked at again only now: whoever ends the task sets this before it looks for the event.
        return self.is_published() or publication.wait(seconds)

    def is_published(self) -> bool:
        """Return whether it is done and its callbacks have run."""
        return self._is_published

    def _no_answer(self, seconds: float | None) -> str:
        return (
            f"expected an answer of {self.worker_id}.{self.method}() within {seconds} s, got none "
            f"(the call is {self._state.value}); {self._sender.describe()}; "
            "raise the timeout, or look at what hangs"
        )

    def try_start(self) -> bool:
        """Begin to run; False if it was cancelled or ended meanwhile."""
        with self._lock:
            if self._state is not State.WAITING:
                return False
            self._state = State.RUNNING
            return True

    def cancel(self) -> bool:
        """Withdraw the call if it has not begun."""
        error = TaskCancelledError(
            f"{self.worker_id}.{self.method}() was cancelled before it ran",
            worker_id=self.worker_id,
        )
        if not self._end(None, error, State.WAITING):
            return False
        self._sender.wake()
        return True

    def finish(self, value: Any) -> bool:
        """End with an answer; False if it had ended."""
        return self._end(value, None, State.RUNNING)

    def fail(self, error: BaseException) -> bool:
        """End with an error, begun or not; False if it had ended."""
        return self._end(None, error, State.WAITING, State.RUNNING)

    def _end(self, value: Any, error: BaseException | None, *allowed: State) -> bool:
        with self._lock:
            if self._state not in allowed:
                return False
            self._value = value
            self._error = error
            if error is not None:
                self._traceback = error.__traceback__
            self.completion_number = self._sender.next_completion_number()
            self._ending_thread = threading.get_ident()
            self._state = State.DONE
            callbacks, self._callbacks = self._callbacks, []
        try:
            for callback in callbacks:
                self._notify(callback)
        finally:
            self._ending_thread = None
            self._is_published = True
            publication = self._publication
            if publication is not None:
                publication.set()
        return True

    def _notify(self, callback: DoneCallback) -> None:
        try:
            callback(self)
        except Exception:
            logger.exception("done callback %r of %r raised", callback, self)

    def add_done_callback(self, callback: DoneCallback) -> None:
        """Call `callback(task)` when it is done, or at once; its errors are logged."""
        with self._lock:
            if self._state is not State.DONE:
                self._callbacks.append(callback)
                return
        self._notify(callback)

    def remove_done_callback(self, callback: DoneCallback) -> None:
        """Forget a callback that has not been called."""
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def __repr__(self) -> str:
        state = self._state.value
        if self._error is not None:
            state = f"failed with {type(self._error).__name__}"
        return f"<{type(self).__name__} {self.worker_id}.{self.method}(), {state}>"
