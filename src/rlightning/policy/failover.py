"""A request that goes to another replica when the one that had it fails."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Protocol, TypeAlias

from rlightning.errors import NotFiniteError, SpaceError, TaskCancelledError, WorkerError
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
        self, policy: EvalPolicy, error: Exception, tried: frozenset[str]
    ) -> Attempt | None:
        """Take note of a failure; return the next attempt, or None if the error stands."""
        ...


def is_fault_of_another(policy: EvalPolicy, error: BaseException) -> bool:
    """Return whether a failed call says nothing against the replica that reports it.

    That is so for requests that no replica could answer, and for errors that name another
    worker as the one that failed.
    """
    if isinstance(error, SpaceError | NotFiniteError):
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
        self._progress = _Attempts(attempt, timeout_seconds)
        super().__init__(self._progress, attempt[0].method)
        self._judge = judge
        self.try_start()
        self._follow(attempt, frozenset())

    def cancel(self) -> bool:
        """Withdraw the attempt at hand if it has not begun."""
        return self._progress.task.cancel()

    def _follow(self, attempt: Attempt, tried: frozenset[str]) -> None:
        self._progress.task, self._progress.policy = attempt
        is_on_callers_thread = attempt[0].is_done()
        attempt[0].add_done_callback(partial(self._settle, attempt[1], tried, is_on_callers_thread))

    def _settle(
        self, policy: EvalPolicy, tried: frozenset[str], is_on_callers_thread: bool, task: Task[Any]
    ) -> None:
        error = task.error()
        if error is None:
            self._judge.succeeded(policy)
            self.finish(task.result())
        elif isinstance(error, TaskCancelledError) or not isinstance(error, Exception):
            self.fail(error)
        elif is_on_callers_thread:
            self._retry(policy, error, tried)
        else:
            retry = partial(self._retry, policy, error, tried)
            threading.Thread(target=retry, name=f"retry-{policy.replica_id}", daemon=True).start()

    def _retry(self, policy: EvalPolicy, error: Exception, tried: frozenset[str]) -> None:
        tried |= {policy.replica_id}
        try:
            attempt = self._judge.send_elsewhere(policy, error, tried)
        except Exception as second_error:  # noqa: BLE001 - it goes to the caller
            second_error.__cause__ = error
            self.fail(second_error)
            return
        if attempt is None:
            self.fail(error)
        else:
            self._follow(attempt, tried)


class _Attempts:
    """The attempt at hand, as the sender that a queued task wants to know."""

    def __init__(self, attempt: Attempt, timeout_seconds: float) -> None:
        self.task, self.policy = attempt
        self.worker_id = self.policy.replica_id
        self.call_timeout_seconds: float | None = timeout_seconds

    def describe(self) -> str:
        return f"{self.task!r} at {self.policy!r}"

    def next_completion_number(self) -> int:
        number: int = getattr(self.task, "completion_number", 0)
        return number

    def wake(self, task: Task[Any] | None = None) -> None:
        """Nothing is queued here."""
