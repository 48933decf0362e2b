"""The runtime that keeps all workers in this process."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from rlightning.clock import Clock, monotonic_clock
from rlightning.errors import TaskTimeoutError, WorkerError
from rlightning.registry import did_you_mean
from rlightning.runtime.base import (
    DEFAULT_STOP_SECONDS,
    Runtime,
    Task,
    WorkerHandle,
    WorkerSpec,
)
from rlightning.runtime.first_done import wait_any
from rlightning.runtime.inline_worker import InlineWorker
from rlightning.runtime.thread_worker import ThreadWorker
from rlightning.runtime.watchdog import Watchdog

Mode = Literal["inline", "threads"]
MODES: tuple[Mode, ...] = ("inline", "threads")

SECONDS_FOR_THE_OVERDUE = 0.002
"""How long a wait that has an answer waits on for a task whose turn has come.

Threads get the processor in no fair order; without this, one that is ready to answer may be
passed over many times.
"""


class InProcessRuntime(Runtime):
    """Workers as objects of this process.

    Mode ``inline`` runs each call at once on the caller's thread: the same calls always run in
    the same order. A watchdog ends the process when a call of a worker that was spawned with
    `call_timeout_seconds` hangs. Mode ``threads`` gives each worker a daemon thread and a queue,
    first come first served; a wait raises at its deadline.

    Args:
        mode: ``inline`` or ``threads``.
        clock: Seconds, for deadlines and reports.
        on_hang: Called by the watchdog with its report before the process ends, so that a
            display can be closed.

    Raises:
        WorkerError: If the mode is unknown.
    """

    def __init__(
        self,
        mode: Mode = "inline",
        *,
        clock: Clock = monotonic_clock,
        on_hang: Callable[[str], object] | None = None,
    ) -> None:
        if mode not in MODES:
            hint = did_you_mean(str(mode), MODES)
            raise WorkerError(f"unknown runtime mode {mode!r}{hint}; expected one of {MODES}")
        self.mode: Mode = mode
        self._clock = clock
        self._completion_numbers = itertools.count()
        self._workers: dict[str, InlineWorker | ThreadWorker] = {}
        self._replaced: list[ThreadWorker] = []
        self._spawning = threading.Lock()
        self._is_shut_down = False
        self._watchdog = Watchdog(clock, on_hang)

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        """Start a worker; an id whose worker died may be used again."""
        with self._spawning:
            worker = self._workers[spec.worker_id] = self._new_worker(spec)
        if isinstance(worker, InlineWorker) and spec.call_timeout_seconds is not None:
            self._watchdog.watch(worker, spec.call_timeout_seconds)
        worker.create(spec)
        return worker

    def _new_worker(self, spec: WorkerSpec) -> InlineWorker | ThreadWorker:
        if self._is_shut_down:
            raise WorkerError(
                f"cannot spawn {spec.worker_id!r}: the runtime is shut down; create another one",
                worker_id=spec.worker_id,
            )
        former = self._workers.get(spec.worker_id)
        if former is not None and former.is_alive():
            raise WorkerError(
                f"worker {spec.worker_id!r} exists already; stop it first or use another id",
                worker_id=spec.worker_id,
            )
        if isinstance(former, ThreadWorker):
            self._replaced = [w for w in (*self._replaced, former) if w.has_thread()]
        incarnation = 1 if former is None else former.incarnation + 1
        kind = InlineWorker if self.mode == "inline" else ThreadWorker
        return kind(spec, incarnation, self._completion_numbers, self._clock)

    def wait_any(
        self, tasks: Sequence[Task[Any]], timeout_seconds: float | None = None
    ) -> tuple[list[Task[Any]], list[Task[Any]]]:
        """Wait until one is done; the done ones come in turn."""
        return wait_any(
            tasks,
            timeout_seconds,
            overdue_seconds=SECONDS_FOR_THE_OVERDUE,
            describe=self._describe,
        )

    def _describe(self, worker_id: str) -> str | None:
        worker = self._workers.get(worker_id)
        return None if worker is None else worker.describe()

    def shutdown(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Stop all workers under one common deadline."""
        with self._spawning:
            if self._is_shut_down:
                return
            self._is_shut_down = True
        workers = [*self._workers.values(), *self._replaced]
        for worker in workers:
            worker.request_stop()
        self._watchdog.stop()
        deadline = self._clock() + timeout_seconds
        problems: list[str] = []
        for worker in workers:
            try:
                worker.stop(max(0.0, deadline - self._clock()))
            except TaskTimeoutError as error:
                problems.append(str(error))
        if problems:
            raise WorkerError("\n".join(problems))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.mode}, {len(self._workers)} workers>"
