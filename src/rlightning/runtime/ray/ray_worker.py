"""A worker that lives in an actor."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import ray

from rlightning.errors import TaskCancelledError, WorkerError
from rlightning.runtime.arguments import argument_tasks
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Task, WorkerHandle, WorkerSpec
from rlightning.runtime.gathered import GatherRule, only_argument
from rlightning.runtime.ray.actor_control import ActorControl, call_later
from rlightning.runtime.ray.argument_failures import failure_of_call, should_be_sent_again
from rlightning.runtime.ray.call_limits import longest_wait
from rlightning.runtime.ray.completions import Completions
from rlightning.runtime.ray.gathering import TypicalSeconds
from rlightning.runtime.ray.host import Arrival
from rlightning.runtime.ray.line import Line
from rlightning.runtime.ray.ray_failures import is_death, is_unreachable, told, translated
from rlightning.runtime.ray.ray_task import RayTask
from rlightning.runtime.ray.sent_calls import SentCalls
from rlightning.runtime.ray.stopping import wait_until_idle
from rlightning.runtime.ray.waiting_calls import RayCall
from rlightning.runtime.ray.wire import read_status
from rlightning.runtime.worker_object import died_error

SECONDS_UNTIL_CERTAIN = 40.0
"""How long an actor that cannot be reached may be alive; Ray tells within 15 s of a lost node."""


class RayWorker(WorkerHandle):
    """Sends calls to one actor, which runs them one at a time in the order of their sending.

    Calls of a gathered method wait here while the actor has two runs of such, and are sent
    together after that. All other calls are sent at once, past the gathered ones that wait.
    So does a call whose argument is itself a call that waits.

    Attributes:
        limit_seconds: Longest time that one call may take; then the worker is ended as hung.
        call_timeout_seconds: Longest wait of those who give none of their own.
        process_id: Of its process, on its node.
    """

    can_end_a_hang = True
    can_hold_calls = True

    def __init__(
        self,
        spec: WorkerSpec,
        incarnation: int,
        actor: Any,
        completions: Completions,
        completion_numbers: Iterator[int],
    ) -> None:
        super().__init__(spec.worker_id, spec.node_id, incarnation)
        self.limit_seconds = spec.call_timeout_seconds
        self.call_timeout_seconds = longest_wait(self.limit_seconds)
        self.process_id = -1
        self._control = ActorControl(actor, completions)
        self._actor_id = ""
        self._line = Line(self, actor, completions)
        self._completions = completions
        self._completion_numbers = completion_numbers
        self._death: str | None = None
        self._typical = TypicalSeconds()
        self._call_numbers = itertools.count(1)
        self._gathered: dict[str, GatherRule] = {}

    def arrived(self, arrival: Arrival) -> None:
        """Note where the actor is, and listen for its death from now on."""
        self.node_id = arrival.node_id
        self.process_id = arrival.process_id
        self._actor_id = arrival.actor_id
        self._control.listen(self._process_gone)

    def made(self, gathered: dict[str, GatherRule]) -> None:
        """Note what the object offers."""
        self._gathered = gathered

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        """Send the call, or let it wait for those it may be gathered with."""
        rule = self._gathered.get(method)
        task = RayTask(self, method, next(self._call_numbers))
        call = RayCall(task, args, kwargs, argument_tasks(args, kwargs), rule)
        if rule is not None:
            try:
                only_argument(method, args, list(kwargs))
            except WorkerError as error:
                task.fail(error)
                return task
        if not self._line.add(call):
            task.fail(self._died_error())
        return task

    def wake(self, task: Task[Any] | None = None) -> None:
        """Send what may be sent now."""
        self._line.wake()

    def hold_calls(self) -> None:
        """Hold gathered calls back, so that those that come now go together."""
        if self._gathered:
            self._line.hold()

    def release_calls(self) -> None:
        """Send what was held back."""
        self._line.release()

    def answered(self, sent: SentCalls, data: bytes) -> None:
        """End the tasks of a run that the actor has answered."""
        seconds, failures = read_status(data)
        self._line.back(sent)
        self.busy_seconds += seconds
        self._typical.add(seconds)
        for call, failure in zip(sent.calls, failures or [None] * len(sent.calls), strict=True):
            if failure is None:
                call.task.finish(None)
            elif failure.is_of_argument:
                self._judge(call, failure.error)
            else:
                call.task.fail(failure.error)

    def unanswered(self, sent: SentCalls, error: BaseException) -> None:
        """End the tasks of a run about which Ray itself tells what went wrong."""
        self._line.back(sent)
        if is_death(error, self._actor_id):
            self._process_gone(error)
            for call in sent.calls:
                call.task.fail(self.lost(error))
            return
        if is_unreachable(error):
            self._wait_for_certainty(sent, error)
            return
        for call in sent.calls:
            if len(sent.calls) > 1 and not call.task.is_done():
                self._send_again(call.alone())
            else:
                self._judge(call, error)

    def _wait_for_certainty(self, sent: SentCalls, error: BaseException) -> None:
        """Fail the calls as those of a dead worker as soon as it is known to be, or counts as."""
        if self._line.doubt(sent.calls):
            call_later(SECONDS_UNTIL_CERTAIN, partial(self._process_gone, error))
            return
        for call in sent.calls:
            call.task.fail(self._died_error())

    def _judge(self, call: RayCall, error: BaseException) -> None:
        """Find whose failure it is, once all arguments have ended."""
        for argument in call.argument_tasks:
            if not argument.is_done():
                argument.add_done_callback(lambda _: self._judge(call, error))
                return
        if should_be_sent_again(call):
            self._send_again(call)
        else:
            call.task.fail(failure_of_call(call, error, self.lost))

    def _send_again(self, call: RayCall) -> None:
        if not self._line.put_back(call):
            call.task.fail(self._died_error())

    def is_alive(self) -> bool:
        """Return whether it takes calls; a death is known as soon as Ray has noticed it."""
        return self._death is None

    def _process_gone(self, error: BaseException) -> None:
        self._end(f"died on node {self.node_id}: {told(error)}")

    def _end(self, reason: str) -> None:
        """Take no more calls, and end those that wait here."""
        self._death = self._death or reason
        for call in self._line.close():
            call.task.fail(self._died_error())

    def request_stop(self) -> None:
        """Take no more calls and end what waits; the running call may finish."""
        was_alive = self.is_alive()
        self._end("was stopped")
        if was_alive:
            self._control.retire("was stopped")

    def stop(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """End what waits, let the running call finish, then end the process."""
        self.request_stop()
        try:
            wait_until_idle(
                self, [call.task for call in self._line.calls_under_way()], timeout_seconds
            )
        finally:
            self.kill()

    def kill(self, reason: str = "was killed") -> None:
        """End the process at once, and all calls."""
        self._end(reason)
        self._control.kill()
        for call in self._line.calls_under_way():
            call.task.fail(self._died_error())

    def run_in_turn(self) -> SentCalls | None:
        """Return what the actor should be running now."""
        return self._line.run_in_turn()

    def seconds_since_a_sign(self) -> float:
        """Return how long ago it was last heard of."""
        return self._line.seconds_since_a_sign()

    def help_to_end(self, task: RayTask, timeout_seconds: float | None) -> None:
        """Fetch status and answer together on the caller's thread: one wait instead of three."""
        sent, answer = task.sent, task.answer
        if sent is None or answer is None:
            return
        try:
            status, value = ray.get([sent.reference, answer], timeout=timeout_seconds)
        except ray.exceptions.RayError:
            return  # whose failure it is, or that none came in time, is found on the usual way
        task.keep(value)
        self._completions.forget(sent)
        if sent.settle(status) is not None:
            self.wake()

    def withdraw(self, task: RayTask) -> bool:
        """Ask the actor to leave out a call that was sent."""
        is_alive = task.sent is not None and self.is_alive()
        if not (is_alive and self._control.withdraw(task.call_number)):
            return False
        text = f"{self.worker_id}.{task.method}() was cancelled before it ran"
        return task.fail(TaskCancelledError(text, worker_id=self.worker_id))

    def lost(self, error: BaseException) -> BaseException:
        """Return our error for what Ray says of a call to this worker."""
        return translated(error, self.worker_id, f"#{self.incarnation} on node {self.node_id}")

    def _died_error(self) -> WorkerError:
        return died_error(self.worker_id, self.incarnation, self._death or "died")

    @property
    def is_quick(self) -> bool:
        """Whether its runs take no longer than sending a call."""
        return self._typical.is_quick

    def next_completion_number(self) -> int:
        """Return a number that grows with every task of the runtime that ends."""
        return next(self._completion_numbers)

    def describe(self) -> str:
        """Return what is known here of the worker."""
        where = f"process {self.process_id} on node {self.node_id}, {self._death or 'alive'}"
        return f"worker {self.worker_id!r} ({where}) has {self._line.described()}"

    def activity(self) -> str:
        """Ask the worker what it is doing; an answer is waited for one second."""
        return self._control.activity() if self.is_alive() else "nothing, it is dead"
