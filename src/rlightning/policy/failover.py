"""A request that goes to another replica when the one that had it fails."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeAlias

from rlightning.clock import monotonic_clock
from rlightning.errors import (
    NotFiniteError,
    ShapeError,
    SpaceError,
    TaskCancelledError,
    WorkerError,
)
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.runtime.base import Task
from rlightning.runtime.queued_task import QueuedTask
from rlightning.types import ActionBatch

Attempt: TypeAlias = tuple[Task[ActionBatch], EvalPolicy]


class FailoverJudge(Protocol):
    """Who decides what becomes of an attempt."""

    def succeeded(self, policy: EvalPolicy) -> None:
        """Take note of an answer."""
        ...

    def send_elsewhere(
        self, policy: EvalPolicy, error: Exception, tried: frozenset[EvalPolicy]
    ) -> Attempt | None:
        """Take note of a failure; return the next attempt, or None if the error stands."""
        ...


def is_fault_of_another(policy: EvalPolicy, error: BaseException) -> bool:
    """Return whether a failed call says nothing against the replica that reports it.

    That is so for requests that no replica could answer, and for errors that name another
    worker as the one that failed.
    """
    if isinstance(error, SpaceError | ShapeError | NotFiniteError):
        return True
    return isinstance(error, WorkerError) and error.worker_id not in (None, policy.replica_id)


class FailoverTask(QueuedTask):
    """Done when one attempt has an answer, or when no other is worth making.

    A failure that is found on another thread is handled on a thread of its own, because the
    next attempt may have to wait for room.

    Args:
        attempt: The first attempt and who has it.
        judge: Decides what becomes of each attempt.
        timeout_seconds: Longest wait for the result by those who give no deadline.
    """

    def __init__(self, attempt: Attempt, judge: FailoverJudge, timeout_seconds: float) -> None:
        self._present = _PresentAttempt(attempt, timeout_seconds)
        super().__init__(self._present, attempt[0].method)
        self._judge = judge
        self.try_start()
        self._follow(attempt, frozenset())

    @property
    def policy(self) -> EvalPolicy:
        """Who has the attempt at hand."""
        return self._present.policy

    def present(self) -> Task[ActionBatch]:
        """Return the attempt at hand; once this is done, the one that decided it."""
        return self._present.task

    def result(self, timeout_seconds: float | None = None) -> ActionBatch:
        """Wait for the answer of the attempt that succeeded, and return it."""
        seconds = self._present.call_timeout_seconds if timeout_seconds is None else timeout_seconds
        deadline = None if seconds is None else monotonic_clock() + seconds
        if not self.is_done():
            with suppress(Exception):  # whoever waits for it himself learns of its end sooner
                self._present.task.result(seconds)
        super().result(_seconds_until(deadline))
        answer: ActionBatch = self._present.task.result(_seconds_until(deadline))
        return answer

    def cancel(self) -> bool:
        """Withdraw the attempt at hand if it has not begun."""
        return self._present.task.cancel()

    def _follow(self, attempt: Attempt | None, tried: frozenset[EvalPolicy]) -> None:
        """Make attempts as long as they end at once; be called again when one ends later."""
        while attempt is not None:
            self._present.task, self._present.policy = attempt
            task, policy = attempt
            if not task.is_done():
                task.add_done_callback(partial(self._go_on, attempt, tried))
                return
            tried |= {policy}
            attempt = self._next_attempt(attempt, tried)

    def _go_on(self, attempt: Attempt, tried: frozenset[EvalPolicy], task: Task[Any]) -> None:
        if _is_final(task):
            self._follow(attempt, tried)
        else:
            name = f"retry-{attempt[1].replica_id}"
            thread = threading.Thread(target=self._follow, args=(attempt, tried), name=name)
            thread.daemon = True
            thread.start()

    def _next_attempt(self, attempt: Attempt, tried: frozenset[EvalPolicy]) -> Attempt | None:
        """Return another attempt, or end with what this one has come to."""
        task, policy = attempt
        error = task.error()
        if error is None:
            self._judge.succeeded(policy)
            self.finish(None)
            return None
        following = None
        if isinstance(error, Exception) and not _is_final(task):
            try:
                following = self._judge.send_elsewhere(policy, error, tried)
            except Exception as second_error:  # noqa: BLE001 - it goes to the caller
                second_error.__cause__ = error
                error = second_error
        if following is None:
            self.fail(error)
        return following


def _seconds_until(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - monotonic_clock())


def _is_final(task: Task[Any]) -> bool:
    """Return whether there is nothing to try elsewhere: an answer, or nobody who wants one."""
    error = task.error()
    return not isinstance(error, Exception) or isinstance(error, TaskCancelledError)


class _PresentAttempt:
    """The attempt at hand, as the sender that a queued task wants to know."""

    def __init__(self, attempt: Attempt, timeout_seconds: float) -> None:
        self.task, self.policy = attempt
        self.worker_id = self.policy.replica_id
        self.call_timeout_seconds: float | None = timeout_seconds

    def describe(self) -> str:
        return self.policy.handle.describe()

    def next_completion_number(self) -> int:
        number: int = getattr(self.task, "completion_number", 0)
        return number

    def wake(self, task: Task[Any] | None = None) -> None:
        """Nothing is queued here."""
