"""Counts every call of a run at the handle of its worker, beside all books of the run itself."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from rlightning.errors import TaskCancelledError, WorkerError
from rlightning.runtime.base import Runtime, Task, WorkerHandle, WorkerSpec


class Incarnation(NamedTuple):
    """One life of a worker.

    Attributes:
        worker_id: Whose.
        number: From 1.
        process_id: Where; -1 if it has no process of its own.
        node_id: On which node.
    """

    worker_id: str
    number: int
    process_id: int
    node_id: str | None


class CallRecords:
    """Knows all lives of all workers, and how their calls ended.

    Attributes:
        lives: In order of their starts.
        sent: Calls, by life and method.
        answered: Calls with an answer, by life and method.
        failed: Calls that failed by the fault of the worker they were sent to, likewise.
    """

    def __init__(self) -> None:
        self.lives: list[Incarnation] = []
        self.sent: Counter[tuple[Incarnation, str]] = Counter()
        self.answered: Counter[tuple[Incarnation, str]] = Counter()
        self.failed: Counter[tuple[Incarnation, str]] = Counter()
        self._lock = threading.Lock()

    def watch_runtime(self, runtime: Runtime) -> None:
        """Watch whoever is spawned from now on."""
        spawn_all = runtime.spawn_all

        def watched(specs: Iterable[WorkerSpec]) -> Iterator[WorkerHandle]:
            for handle in spawn_all(specs):
                self.watch(handle)
                yield handle

        runtime.spawn_all = watched  # type: ignore[method-assign]

    def watch(self, handle: WorkerHandle) -> None:
        """Count the calls of one life."""
        process_id = getattr(handle, "process_id", -1)
        life = Incarnation(handle.worker_id, handle.incarnation, process_id, handle.node_id)
        self.lives.append(life)
        call = handle.call

        def recorded(method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
            with self._lock:
                self.sent[life, method] += 1
            task = call(method, *args, **kwargs)
            task.add_done_callback(partial(self._ended, life, method))
            return task

        handle.call = recorded  # type: ignore[method-assign]

    def _ended(self, life: Incarnation, method: str, task: Task[Any]) -> None:
        error = task.error()
        with self._lock:
            if error is None:
                self.answered[life, method] += 1
            elif _is_own_fault(error, life.worker_id):
                self.failed[life, method] += 1

    def lives_of(self, worker_id: str) -> list[Incarnation]:
        """Return the lives of one worker, in order."""
        return [life for life in self.lives if life.worker_id == worker_id]


def _is_own_fault(error: BaseException, worker_id: str) -> bool:
    if isinstance(error, TaskCancelledError):
        return False
    return not isinstance(error, WorkerError) or error.worker_id in (None, worker_id)
