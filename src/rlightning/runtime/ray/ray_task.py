"""A call to an actor: its answer stays in the object store until somebody asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import ray

from rlightning.errors import TaskTimeoutError
from rlightning.runtime.base import Task
from rlightning.runtime.queued_task import QueuedTask, Sender, State
from rlightning.runtime.ray.packing import unpacked

if TYPE_CHECKING:
    from rlightning.runtime.ray.sent_calls import SentCalls


class RaySender(Sender, Protocol):
    """What a task needs from the worker to which it was sent."""

    def help_to_end(self, task: RayTask, timeout_seconds: float | None) -> None:
        """Wait on the caller's thread until the call is answered, or the deadline."""
        ...

    def withdraw(self, task: RayTask) -> bool:
        """Keep a call that was sent from running; False if it has begun."""
        ...

    def activity(self) -> str:
        """Return what the worker itself says it is doing."""
        ...

    def lost(self, error: BaseException) -> BaseException:
        """Return the error of an answer that cannot be fetched."""
        ...

    @property
    def is_quick(self) -> bool:
        """Whether its runs take no longer than sending a call."""
        ...


class RayTask(QueuedTask):
    """A call to an actor.

    The driver knows of a done call that it is done and whether it failed. The answer is fetched
    by `result` alone; as an argument of another call it goes from worker to worker.

    Attributes:
        answer: Reference to the answer, once the call was sent.
        sent: The run in which it went, until that is sent anew or has ended.
        sent_references: Ids of the references with which its arguments went.
        call_number: Grows with each call to the worker.
    """

    __slots__ = (
        "_fetched",
        "_has_fetched",
        "_sent_callbacks",
        "answer",
        "call_number",
        "sent",
        "sent_references",
    )

    _sender: RaySender

    def __init__(self, sender: RaySender, method: str, call_number: int) -> None:
        super().__init__(sender, method)
        self.call_number = call_number
        self.answer: ray.ObjectRef[Any] | None = None
        self.sent: SentCalls | None = None
        self.sent_references: list[bytes | None] = []
        self._sent_callbacks: list[Callable[[], object]] = []
        self._fetched: Any = None
        self._has_fetched = False

    def has_begun(self) -> bool:
        """Return whether it is done: when the method begins is not known here."""
        return self.is_done()

    def result(self, timeout_seconds: float | None = None) -> Any:
        """Wait for the end of the call and fetch its answer."""
        seconds = timeout_seconds
        if seconds is None:
            seconds = self._sender.call_timeout_seconds
        deadline = None if seconds is None else time.monotonic() + seconds
        if not self.is_done():
            self._sender.help_to_end(self, seconds)
        super().result(_rest(deadline))
        if not self._has_fetched and self.answer is not None:
            self.keep(self._fetch(self.answer, _rest(deadline)))
        return self._fetched

    def keep(self, value: Any) -> None:
        """Take the answer that was fetched along with the status."""
        self._fetched = unpacked(value)
        self._has_fetched = True

    def _fetch(self, answer: ray.ObjectRef[Any], timeout_seconds: float | None) -> Any:
        try:
            return ray.get(answer, timeout=timeout_seconds)
        except ray.exceptions.GetTimeoutError as error:
            raise TaskTimeoutError(
                f"expected the answer of {self.worker_id}.{self.method}() to arrive within its "
                f"limit, got none: {error}; raise the timeout, or make the answer smaller",
                worker_id=self.worker_id,
            ) from error
        except ray.exceptions.RayError as error:
            raise self._sender.lost(error) from error

    def _no_answer(self, seconds: float | None) -> str:
        return f"{super()._no_answer(seconds)}; the worker says: {self._sender.activity()}"

    def cancel(self) -> bool:
        """Withdraw the call if it has not begun; a call that was sent needs the worker's word."""
        if self.is_done():
            return False
        if self.answer is None and super().cancel():
            return True
        return self._sender.withdraw(self)

    def is_of_quick_worker(self) -> bool:
        """Return whether runs of its worker take no longer than sending a call."""
        return self._sender.is_quick

    def on_sent(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once when `answer` is there or the task is done, or at once."""
        with self._lock:
            is_waiting = self.answer is None and not self.is_done()
            if is_waiting:
                self._sent_callbacks.append(callback)
        if not is_waiting:
            callback()

    def mark_sent(self, answer: ray.ObjectRef[Any], sent: SentCalls) -> None:
        """Note that the call is under way; `tell_sent` follows, outside of all locks."""
        self.answer = answer
        self.sent = sent

    def tell_sent(self) -> None:
        """Tell those who wait for the reference of the answer."""
        with self._lock:
            callbacks, self._sent_callbacks = self._sent_callbacks, []
        for callback in callbacks:
            callback()

    def _end(self, value: Any, error: BaseException | None, *allowed: State) -> bool:
        """Let go of the run as well: it holds the arguments, they their runs, and so on."""
        has_ended = super()._end(value, error, *allowed)
        if has_ended:
            self.sent = None
        return has_ended

    def mark_unsent(self) -> None:
        """Note that the call must be sent again."""
        self.answer = None
        self.sent = None


def _rest(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def present_task(task: Task[Any]) -> Task[Any]:
    """Return the task whose answer a task will have, as far as is known now."""
    while (present := task.present()) is not task:
        task = present
    return task
