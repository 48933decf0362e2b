"""A worker whose calls run at once on the caller's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from rlightning.clock import Clock
from rlightning.errors import WorkerDiedError
from rlightning.runtime.arguments import resolved_arguments
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Task, WorkerHandle, WorkerSpec
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.gathered import GatherRule, gather_rules_of, gathered_answers, only_argument
from rlightning.runtime.worker_object import (
    CREATION,
    bound_method,
    described_activity,
    died_error,
    note_origin,
)


class InlineWorker(WorkerHandle):
    """Runs each call to its end before the task is handed out.

    Calls from several threads run one after the other. `KeyboardInterrupt` passes through
    `call`; `SystemExit` raised by a method is the death of the worker.

    Attributes:
        running: What runs now and since when, for the watchdog.
        call_timeout_seconds: Longest time of one call, watched by the watchdog.
    """

    __slots__ = (
        "_clock",
        "_completion_numbers",
        "_death",
        "_gathered",
        "_lock",
        "_methods",
        "_target",
        "call_timeout_seconds",
        "running",
    )

    def __init__(
        self, spec: WorkerSpec, incarnation: int, completion_numbers: Iterator[int], clock: Clock
    ) -> None:
        super().__init__(spec.worker_id, spec.node_id, incarnation)
        self.call_timeout_seconds = spec.call_timeout_seconds
        self.running: tuple[str, float] | None = None
        self._completion_numbers = completion_numbers
        self._clock = clock
        self._death: str | None = None
        self._lock = threading.RLock()
        self._target: object = None
        self._gathered: dict[str, GatherRule] = {}
        self._methods: dict[str, Callable[..., Any]] = {}

    def create(self, spec: WorkerSpec) -> None:
        """Make the worker's object; errors keep their type."""
        self.running = (CREATION, self._clock())
        try:
            self._target = spec.factory()
            self._gathered = gather_rules_of(self._target)
        except BaseException as error:
            note_origin(error, self.worker_id, f"{CREATION}()")
            self._died("could not be made")
            raise
        finally:
            self.running = None

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Run the method now; the task is done when this returns."""
        value: Any = None
        failure: BaseException | None = None
        with self._lock:
            outer = self.running
            try:
                if args or kwargs:
                    args, kwargs = resolved_arguments(args, kwargs)
                if self._death is not None:
                    raise died_error(self.worker_id, self.incarnation, self._death)
                self.running = (method, self._clock())
                run = self._methods.get(method)
                if run is None:
                    run = self._methods[method] = self._find(method)
                value = run(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - it goes to the caller, in the task
                failure = error
                if self.running is not outer:
                    note_origin(error, self.worker_id, f"{method}()")
            except SystemExit as error:
                failure = self._died(f"ended itself in {method}() with {error!r}")
                failure.__cause__ = error
            finally:
                if outer is None and self.running is not None:
                    self.busy_seconds += self._clock() - self.running[1]
                self.running = outer
        return FinishedTask(self.worker_id, method, value, failure, next(self._completion_numbers))

    def _find(self, method: str) -> Callable[..., Any]:
        function = bound_method(self._target, self.worker_id, method)
        if method not in self._gathered:
            return function

        def answer_alone(*args: Any, **kwargs: Any) -> Any:
            argument = only_argument(method, args, kwargs)
            answer = gathered_answers(function, method, [argument])[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return answer_alone

    def is_alive(self) -> bool:
        """Return whether it takes calls."""
        return self._death is None

    def request_stop(self) -> None:
        """Take no more calls."""
        self._died("was stopped")

    def stop(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Take no more calls; nothing can be waiting."""
        self.request_stop()

    def kill(self) -> None:
        """Take no more calls, as after a crash."""
        self._died("was killed")

    def describe_activity(self) -> str:
        """Return what the worker's object says it is doing, or an empty text."""
        return described_activity(self._target)

    def _died(self, reason: str) -> WorkerDiedError:
        if self._death is None:
            self._death = reason
        return died_error(self.worker_id, self.incarnation, self._death)

    def describe(self) -> str:
        """Return what the worker does now, for a message."""
        running = self.running
        if running is None:
            return f"worker {self.worker_id!r} is idle"
        seconds = self._clock() - running[1]
        return (
            f"worker {self.worker_id!r} is busy with {running[0]}() since {seconds:.1f} s"
            f"{self.describe_activity()}"
        )
