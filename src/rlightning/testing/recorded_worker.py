"""A worker that answers when the test says so, and remembers what it was asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rlightning.errors import WorkerDiedError, WorkerError
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Task, WorkerHandle
from rlightning.runtime.queued_task import QueuedTask


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as it arrived, with the task to answer."""

    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    task: QueuedTask


class RecordedWorker(WorkerHandle):
    """Keeps every call open until `answer`, `refuse`, `stop` or `kill`; no thread, no wait.

    Attributes:
        calls: All calls, in the order in which they came.
        call_timeout_seconds: Longest wait for an answer by those who give none.
    """

    def __init__(self, worker_id: str, incarnation: int = 1, node_id: str | None = None) -> None:
        super().__init__(worker_id, node_id, incarnation)
        self.calls: list[RecordedCall] = []
        self.call_timeout_seconds: float | None = 5.0
        self._numbers = itertools.count()
        self._is_alive = True

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Record the call; a dead worker fails it at once."""
        task = QueuedTask(self, method)
        self.calls.append(RecordedCall(method, args, kwargs, task))
        if not self._is_alive:
            task.fail(self._death())
        return task

    def open_calls(self) -> list[RecordedCall]:
        """Return the calls that wait for an answer, the oldest first."""
        return [call for call in self.calls if not call.task.is_done()]

    def answer(self, value: Any = None) -> RecordedCall:
        """Answer the oldest open call and return it."""
        return self._end_oldest(lambda task: task.try_start() and task.finish(value))

    def refuse(self, error: BaseException) -> RecordedCall:
        """Fail the oldest open call and return it."""
        return self._end_oldest(lambda task: task.fail(error))

    def _end_oldest(self, end: Callable[[QueuedTask], object]) -> RecordedCall:
        waiting = self.open_calls()
        if not waiting:
            raise WorkerError(
                f"expected an open call at {self.worker_id!r}, got none", worker_id=self.worker_id
            )
        end(waiting[0].task)
        return waiting[0]

    def is_alive(self) -> bool:
        """Return whether it was neither stopped nor killed."""
        return self._is_alive

    def stop(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Fail all open calls."""
        self.kill()

    def kill(self) -> None:
        """Fail all open calls with `WorkerDiedError`."""
        self._is_alive = False
        for call in self.open_calls():
            call.task.fail(self._death())

    def _death(self) -> WorkerDiedError:
        return WorkerDiedError(f"worker {self.worker_id!r} died", worker_id=self.worker_id)

    def describe(self) -> str:
        """Return how many calls are open, for a message."""
        return f"worker {self.worker_id!r} has {len(self.open_calls())} open calls"

    def next_completion_number(self) -> int:
        """Return a number that grows with every task that ends."""
        return next(self._numbers)

    def wake(self, task: Task[Any] | None = None) -> None:
        """Do nothing: there is no queue."""
