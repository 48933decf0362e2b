"""The calls that wait at the driver, and which of them go to the actor next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rlightning.clock import monotonic_clock
from rlightning.runtime.base import Task
from rlightning.runtime.gathered import GatherRule
from rlightning.runtime.ray.gathering import MAX_RUNS_UNDER_WAY, RecentCallers
from rlightning.runtime.ray.ray_task import RayTask, present_task

MAX_HOLD_SECONDS = 0.002
"""How long calls are held back at most for others to go with."""


@dataclass(frozen=True, slots=True, eq=False)
class RayCall:
    """A call with its arguments.

    Attributes:
        task: What the caller has.
        args: As they were given.
        kwargs: As they were given.
        argument_tasks: Those of both that are tasks.
        rule: Of a gathered method.
        is_alone: Whether it is never sent together with others.
    """

    task: RayTask
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argument_tasks: list[Task[Any]]
    rule: GatherRule | None
    is_alone: bool = False

    @property
    def caller(self) -> str:
        """Whose answer is the first argument, or who is called if none is an answer."""
        return (self.argument_tasks[0] if self.argument_tasks else self.task).worker_id

    def is_ready_soon(self) -> bool:
        """Return whether all arguments are there, or on their way from workers that are quick."""
        return all(task.is_done() or is_quick_to_come(task) for task in self.argument_tasks)

    def can_be_sent(self) -> bool:
        """Return whether every argument is there or on its way through the object store."""
        return all(has_answer_or_end(task) for task in self.argument_tasks)

    def present_references(self) -> list[bytes | None]:
        """Return the ids of the references with which the arguments would be sent now.

        None for an argument that is given as a value, or has no reference yet. Ids, because a
        kept reference would keep the answer, and with it all that the answer was made from.
        """
        return [reference_of(task) for task in self.argument_tasks]

    def argument_error(self) -> BaseException | None:
        """Return the error of the first argument that is known to have failed."""
        errors = (task.error() for task in self.argument_tasks)
        return next((error for error in errors if error is not None), None)

    def tell_when_arguments_move(self, callback: Callable[..., object]) -> None:
        """Call `callback` whenever an argument was sent or is there."""
        for argument in self.argument_tasks:
            present = argument.present()
            if isinstance(present, RayTask):
                present.on_sent(callback)
            if not argument.is_done():
                argument.add_done_callback(callback)

    def alone(self) -> RayCall:
        """Return the same, never to be sent together with others."""
        return replace(self, is_alone=True)


def has_answer_or_end(task: Task[Any]) -> bool:
    """Return whether the answer of a task is there or has a reference already."""
    present = present_task(task)
    return task.is_done() or (isinstance(present, RayTask) and present.answer is not None)


def is_quick_to_come(task: Task[Any]) -> bool:
    """Return whether the answer of a task is on its way from a worker whose runs are short."""
    present = present_task(task)
    return (
        isinstance(present, RayTask) and present.answer is not None and present.is_of_quick_worker()
    )


def reference_of(task: Task[Any]) -> bytes | None:
    """Return the id of the reference of a task's present answer."""
    present = present_task(task)
    answer = present.answer if isinstance(present, RayTask) else None
    return None if answer is None else answer.binary()


def may_join(taken: list[RayCall], call: RayCall) -> bool:
    """Return whether a gathered call may be answered in one run with others."""
    head = taken[0]
    if head.task.method != call.task.method or head.is_alone or call.is_alone:
        return False
    limit = None if head.rule is None else head.rule.max_batch_calls
    return limit is None or len(taken) < limit


class WaitingCalls:
    """Two queues, first come first served: of gathered methods, and of all others.

    The others overtake gathered calls that wait, so that weights are not held up by requests.
    Used under the lock of the worker.
    """

    def __init__(self) -> None:
        self._plain: deque[RayCall] = deque()
        self._gathered: deque[RayCall] = deque()
        self._callers = RecentCallers()
        self._held_since: float | None = None

    @property
    def is_holding(self) -> bool:
        """Whether gathered calls are held back, because others will come that may go along."""
        return self._held_since is not None

    def hold(self) -> None:
        """Hold gathered calls back."""
        self._held_since = monotonic_clock()

    def release(self) -> bool:
        """Hold them back no more; return whether they were."""
        was_holding, self._held_since = self.is_holding, None
        return was_holding

    def is_held_too_long(self) -> bool:
        """Return whether those that should have come take too long."""
        since = self._held_since
        return since is not None and monotonic_clock() - since > MAX_HOLD_SECONDS

    def __len__(self) -> int:
        return len(self._plain) + len(self._gathered)

    def put_back(self, call: RayCall) -> None:
        """Put a call that must be sent again before all others."""
        (self._plain if call.rule is None else self._gathered).appendleft(call)

    def add(self, call: RayCall) -> None:
        """Put a call at the end of its queue."""
        if call.rule is None:
            self._plain.append(call)
        else:
            self._gathered.append(call)
            self._callers.add(call.caller)

    def take(self, num_under_way: int) -> list[RayCall]:
        """Return the calls that go to the actor together now; an empty list if none may.

        Args:
            num_under_way: Runs of gathered methods that the actor has not answered.
        """
        self._drop_ended()
        if self._plain and self._plain[0].can_be_sent():
            return [self._plain.popleft()]
        if self.is_holding or num_under_way >= MAX_RUNS_UNDER_WAY:
            return []
        return self._take_together()

    def _take_together(self) -> list[RayCall]:
        """Take the first gathered calls of one method that hold each other up for no long time."""
        taken: list[RayCall] = []
        left: deque[RayCall] = deque()
        for call in self._gathered:
            goes = self._may_go(call) and (not taken or may_join(taken, call))
            (taken if goes else left).append(call)
        self._gathered = left
        return taken

    def _may_go(self, call: RayCall) -> bool:
        """Return whether an actor may be given this call now.

        It will run nothing else until the arguments are there. If these may be long in coming,
        the call waits here for them, unless the actor has nobody else to serve.
        """
        if self._callers.are_one:
            return call.can_be_sent()
        return call.is_ready_soon()

    def _drop_ended(self) -> None:
        for queue in (self._plain, self._gathered):
            while queue and queue[0].task.is_done():
                queue.popleft()

    def take_all(self) -> list[RayCall]:
        """Return everything that waits and forget it."""
        calls = [*self._plain, *self._gathered]
        self._plain.clear()
        self._gathered.clear()
        return calls
