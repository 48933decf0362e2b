"""What a runtime is: it starts workers, calls their methods, and waits for the answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from rlightning.errors import WorkerError

Result_co = TypeVar("Result_co", covariant=True)

DEFAULT_STOP_SECONDS = 10.0
"""How long `stop` and `shutdown` wait for what still runs."""


class Task(ABC, Generic[Result_co]):
    """One call to a worker, in flight or answered.

    A task may be given as an argument of another call before it is done: the other method then
    receives its result. Every method may be called from any thread.

    Attributes:
        worker_id: Who runs the call.
        method: Name of the called method.
    """

    __slots__ = ("method", "worker_id")

    worker_id: str
    method: str

    @abstractmethod
    def is_done(self) -> bool:
        """Return whether it was answered, failed or was cancelled. Never blocks."""

    @abstractmethod
    def result(self, timeout_seconds: float | None = None) -> Result_co:
        """Wait for the answer and return it.

        Done callbacks that were added before the task ended have run when this returns.

        Args:
            timeout_seconds: Longest wait. None takes the `call_timeout_seconds` with which the
                worker was spawned; without that too, it waits without end.

        Raises:
            BaseException: The error of the call itself, of its own type, with the traceback of
                the worker.
            WorkerDiedError: If the worker died before it answered.
            TaskCancelledError: If the call was cancelled.
            TaskTimeoutError: If the deadline passed; names what the worker is busy with.
        """

    @abstractmethod
    def error(self) -> BaseException | None:
        """Return the error of a task that is done, otherwise None. Never blocks."""

    @abstractmethod
    def cancel(self) -> bool:
        """Withdraw the call if it has not begun; return whether that succeeded."""

    def present(self) -> Task[Any]:
        """Return the task whose answer this one will have, as far as is known now: itself.

        A task that hands its call on to others, one after the other, returns the one at hand.
        """
        return self

    @abstractmethod
    def add_done_callback(self, callback: Callable[[Task[Any]], object]) -> None:
        """Call `callback(task)` once when the task is done, or at once if it is already.

        The callback runs on the thread that ends the task and must not block.
        """


class WorkerHandle(ABC):
    """A running worker, as others see it.

    Attributes:
        worker_id: Unique among the living workers of one runtime.
        node_id: The machine it runs on, if known.
        incarnation: 1 for the first worker of this id, one more after each restart.
        busy_seconds: How long its methods ran, summed over all calls.
        can_end_a_hang: Whether `kill` ends also a method that never returns.
        can_hold_calls: Whether `hold_calls` does anything.
    """

    __slots__ = ("busy_seconds", "incarnation", "node_id", "worker_id")

    can_end_a_hang: ClassVar[bool] = False
    can_hold_calls: ClassVar[bool] = False

    def __init__(self, worker_id: str, node_id: str | None, incarnation: int) -> None:
        self.worker_id = worker_id
        self.node_id = node_id
        self.incarnation = incarnation
        self.busy_seconds = 0.0

    @abstractmethod
    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Send a call; calls of one sender run in the order in which they were sent.

        Only a gathered call may be passed over by those of the same method, while its arguments
        are not there.

        An argument that is a `Task` is replaced by its result before the method runs; its error
        becomes the error of this call. Whatever goes wrong in the worker is found in the task:
        this method raises nothing. It waits for nothing but the method itself, and for that
        only in a runtime that runs calls on the caller's thread.
        """

    def hold_calls(self) -> None:  # noqa: B027 - what most runtimes do is nothing
        """Hear that calls come now which may go together; `release_calls` follows soon.

        Where sending costs nothing, and in a runtime that gathers what waits anyway, this does
        nothing. Calls are held back for a few milliseconds at most.
        """

    def release_calls(self) -> None:  # noqa: B027
        """Send what was held back since `hold_calls`."""

    @abstractmethod
    def is_alive(self) -> bool:
        """Return whether it takes calls. Local and cheap."""

    @abstractmethod
    def stop(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """End the worker: what waits ends with `WorkerDiedError`, what runs may finish.

        Raises:
            TaskTimeoutError: If the running call does not end in time; it names it.
        """

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once: all its calls, the running one too, end `WorkerDiedError`."""

    def describe(self) -> str:
        """Return what the worker does now, for a message. Local and cheap."""
        return repr(self)

    def __repr__(self) -> str:
        state = "alive" if self.is_alive() else "dead"
        where = f" on {self.node_id}" if self.node_id is not None else ""
        return f"<{type(self).__name__} {self.worker_id}#{self.incarnation}{where}, {state}>"


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What is needed to start a worker.

    Attributes:
        worker_id: Name, such as ``env-3``.
        factory: Makes the object whose methods are called; runs where the worker runs.
        node_id: The machine on which it should run.
        call_timeout_seconds: Longest time that one call may take.
        num_cpus: Share of its node's CPUs that is kept for it, where nodes are counted.
        num_gpus: Likewise of GPUs, also fractions of one.
        memory_bytes: Likewise of memory.
    """

    worker_id: str
    factory: Callable[[], object]
    node_id: str | None = None
    call_timeout_seconds: float | None = None
    num_cpus: float = 0.0
    num_gpus: float = 0.0
    memory_bytes: int = 0

    def __post_init__(self) -> None:
        if not self.worker_id:
            raise WorkerError(f"expected a worker id such as 'env-3', got {self.worker_id!r}")
        if not callable(self.factory):
            raise WorkerError(
                f"expected a callable that makes the worker, got {self.factory!r}; "
                "pass a function or functools.partial",
                worker_id=self.worker_id,
            )
        seconds = self.call_timeout_seconds
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
            raise WorkerError(
                f"expected call_timeout_seconds above 0, got {seconds!r}; use None for no limit",
                worker_id=self.worker_id,
            )
        amounts = (self.num_cpus, self.num_gpus, self.memory_bytes)
        if not all(math.isfinite(amount) and amount >= 0 for amount in amounts):
            raise WorkerError(
                f"expected CPUs, GPUs and memory of 0 or more, got {amounts}; 0 asks for none",
                worker_id=self.worker_id,
            )


class Runtime(ABC):
    """Starts workers and waits for their answers; a context manager that shuts itself down."""

    @abstractmethod
    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        """Start a worker and return when its object is made.

        Raises:
            BaseException: What the factory raised, of its own type, with a note that names the
                worker.
            WorkerError: If a living worker has this id, or the runtime is shut down.
            TaskTimeoutError: If the factory takes longer than `call_timeout_seconds`.
        """

    def spawn_all(self, specs: Iterable[WorkerSpec]) -> Iterator[WorkerHandle]:
        """Start several workers, at the same time where that is possible; yield them in order.

        Raises:
            BaseException: As `spawn`. Workers that were not yielded until then do not live on.
        """
        for spec in specs:
            yield self.spawn(spec)

    @abstractmethod
    def wait_any(
        self, tasks: Sequence[Task[Any]], timeout_seconds: float | None = None
    ) -> tuple[list[Task[Any]], list[Task[Any]]]:
        """Wait until at least one task is done; return the done and the pending ones.

        The done ones come in turn, whoever has waited longest first, so that a caller who handles
        one at a time serves all workers alike, wherever they stand in `tasks`.

        Raises:
            WorkerError: If `tasks` is empty: there is nothing to wait for.
            TaskTimeoutError: If none is done at the deadline; it names all of them.
        """

    @abstractmethod
    def shutdown(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Stop all workers. A second call does nothing.

        Raises:
            WorkerError: If a worker does not end in time; it names each.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.shutdown()
        except WorkerError as shutdown_error:
            if error is None:
                raise
            error.add_note(f"while shutting down: {shutdown_error}")
