"""A worker that runs its calls on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from rlightning.clock import Clock
from rlightning.errors import TaskTimeoutError, WorkerError
from rlightning.runtime.arguments import argument_tasks, resolved_arguments
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Task, WorkerHandle, WorkerSpec
from rlightning.runtime.call_queue import CallQueue, QueuedCall
from rlightning.runtime.gathered import GatherRule, gather_rules_of, gathered_answers, only_argument
from rlightning.runtime.queued_task import QueuedTask
from rlightning.runtime.worker_object import (
    CREATION,
    bound_method,
    described_activity,
    died_error,
    note_origin,
)


class ThreadWorker(WorkerHandle):
    """One daemon thread and a queue, first come first served.

    An `Exception` of a method goes to its caller and the worker stays; any other
    `BaseException`, such as `SystemExit`, is the death of the worker.

    Attributes:
        running: What runs now and since when.
        call_timeout_seconds: Longest wait of those who give none of their own.
    """

    def __init__(
        self, spec: WorkerSpec, incarnation: int, completion_numbers: Iterator[int], clock: Clock
    ) -> None:
        super().__init__(spec.worker_id, spec.node_id, incarnation)
        self.call_timeout_seconds = spec.call_timeout_seconds
        self.running: tuple[str, float] | None = (CREATION, clock())
        self._beat_at = clock()
        self._completion_numbers = completion_numbers
        self._clock = clock
        self._death: str | None = None
        self._queue = CallQueue()
        self._target: object = None
        self._gathered: dict[str, GatherRule] = {}
        self._creation = QueuedTask(self, CREATION)
        self._thread = threading.Thread(
            target=self._main, args=(spec,), name=f"{spec.worker_id}#{incarnation}", daemon=True
        )

    def create(self, spec: WorkerSpec) -> None:
        """Start the thread and wait until the object is made; errors keep their type."""
        self._thread.start()
        try:
            self._creation.result(spec.call_timeout_seconds)
        except BaseException:
            self._die("could not be made")
            raise

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Put the call at the end of the queue."""
        task = QueuedTask(self, method)
        rule = self._gathered.get(method)
        call = QueuedCall(task, args, kwargs, argument_tasks(args, kwargs), rule)
        if not self._queue.put(call):
            task.fail(died_error(self.worker_id, self.incarnation, self._death or "died"))
        for argument in call.argument_tasks:
            if not argument.is_done():
                argument.add_done_callback(self.wake)
        return task

    def is_alive(self) -> bool:
        """Return whether it takes calls."""
        return self._death is None

    def has_thread(self) -> bool:
        """Return whether its thread runs, which a call that hangs may keep up after death."""
        return self._thread.is_alive()

    def request_stop(self) -> None:
        """Take no more calls and end what waits; the running call may finish."""
        self._die("was stopped")

    def stop(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """End what waits, let the running call finish, and wait for the thread."""
        self.request_stop()
        self._thread.join(timeout_seconds)
        if self.has_thread():
            activity = self.describe()
            self._end_calls(self._queue.calls_in_hand())
            raise TaskTimeoutError(
                f"expected thread {self._thread.name!r} to end within {timeout_seconds} s, but "
                f"{activity}; it is left behind and ends with the process",
                worker_id=self.worker_id,
            )

    def kill(self) -> None:
        """End all calls, the running one too; what it still answers is dropped."""
        self._die("was killed")
        self._end_calls(self._queue.calls_in_hand())

    def _die(self, reason: str) -> None:
        self._death = self._death or reason
        self._end_calls(self._queue.close())

    def _end_calls(self, calls: list[QueuedCall]) -> None:
        for call in calls:
            call.task.fail(died_error(self.worker_id, self.incarnation, self._death or "died"))

    def wake(self, task: Task[Any] | None = None) -> None:
        """Look at the queue again: an argument has come or a call was cancelled."""
        self._queue.wake()

    def next_completion_number(self) -> int:
        """Return a number that grows with every task of the runtime that ends."""
        return next(self._completion_numbers)

    def describe(self) -> str:
        """Return what the worker does now, for a message."""
        now = self._clock()
        running = self.running
        doing = "idle"
        if running is not None:
            method, since = running
            activity = described_activity(self._target)
            doing = f"busy with {method}() since {now - since:.1f} s{activity}"
        return (
            f"worker {self.worker_id!r} is {doing}, {len(self._queue)} calls wait, "
            f"last beat {now - self._beat_at:.1f} s ago"
        )

    def _main(self, spec: WorkerSpec) -> None:
        self._creation.try_start()
        try:
            self._target = spec.factory()
            self._gathered = gather_rules_of(self._target)
        except BaseException as error:  # noqa: BLE001 - it goes to the caller of `spawn`
            note_origin(error, self.worker_id, f"{CREATION}()")
            self._creation.fail(error)
            return
        self._rest()
        self._creation.finish(None)
        while calls := self._queue.take():
            self._run(calls)
            self._rest()

    def _rest(self) -> None:
        now = self._clock()
        self.busy_seconds += now - self._beat_at
        self.running = None
        self._beat_at = now

    def _run(self, calls: list[QueuedCall]) -> None:
        """Run what was taken together; an argument's error ends that call alone."""
        self._beat_at = self._clock()
        self.running = (calls[0].task.method, self._beat_at)
        prepared: list[tuple[QueuedTask, tuple[Any, ...], dict[str, Any]]] = []
        for call in calls:
            if not call.task.try_start():
                continue
            try:
                prepared.append((call.task, *resolved_arguments(call.args, call.kwargs)))
            except BaseException as error:  # noqa: BLE001 - it goes to this caller
                call.task.fail(error)
        if not prepared:
            return
        try:
            if calls[0].rule is None:
                self._run_one(*prepared[0])
            else:
                self._run_gathered(prepared)
        except Exception as error:  # noqa: BLE001 - it goes to the callers
            note_origin(error, self.worker_id, f"{calls[0].task.method}()")
            for task, _, _ in prepared:
                task.fail(error)
        except BaseException as error:  # noqa: BLE001 - the worker ends itself
            self._death = f"ended itself in {calls[0].task.method}() with {error!r}"
            self.kill()

    def _run_one(self, task: QueuedTask, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        task.finish(bound_method(self._target, self.worker_id, task.method)(*args, **kwargs))

    def _run_gathered(
        self, prepared: list[tuple[QueuedTask, tuple[Any, ...], dict[str, Any]]]
    ) -> None:
        method = prepared[0][0].method
        tasks: list[QueuedTask] = []
        arguments: list[Any] = []
        for task, args, kwargs in prepared:
            try:
                arguments.append(only_argument(method, args, list(kwargs)))
                tasks.append(task)
            except WorkerError as error:
                task.fail(error)
        if not tasks:
            return
        function = bound_method(self._target, self.worker_id, method)
        for task, answer in zip(tasks, gathered_answers(function, method, arguments), strict=True):
            if isinstance(answer, Exception):
                note_origin(answer, self.worker_id, f"{method}()")
                task.fail(answer)
            else:
                task.finish(answer)
