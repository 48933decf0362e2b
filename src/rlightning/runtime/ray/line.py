"""The calls of one actor: those that wait here, and those that are on their way."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rlightning.runtime.base import Task
from rlightning.runtime.ray.completions import Completions
from rlightning.runtime.ray.outgoing import Outgoing
from rlightning.runtime.ray.sent_calls import SentCalls
from rlightning.runtime.ray.under_way import UnderWay
from rlightning.runtime.ray.waiting_calls import RayCall, WaitingCalls

if TYPE_CHECKING:
    from rlightning.runtime.ray.ray_worker import RayWorker


class Line:
    """Sends calls to an actor in their order, until it is closed. Thread-safe.

    Args:
        worker: Hears of what was sent.
        actor: Ray's handle.
        completions: Looks after what was sent.
    """

    def __init__(self, worker: RayWorker, actor: Any, completions: Completions) -> None:
        self._worker = worker
        self._outgoing = Outgoing(actor)
        self._completions = completions
        self._lock = threading.Lock()
        self._is_closed = False
        self._waiting = WaitingCalls()
        self._under_way = UnderWay()
        self._doubtful: list[RayCall] = []

    def add(self, call: RayCall) -> bool:
        """Take a call in at the end; False if the line is closed."""
        with self._lock:
            if self._is_closed:
                return False
            self._waiting.add(call)
        self.wake()
        if call.task.answer is None and not call.task.is_done():
            call.tell_when_arguments_move(self.wake)
        return True

    def put_back(self, call: RayCall) -> bool:
        """Take a call in before all others, to be sent again; False if the line is closed."""
        call.task.mark_unsent()
        with self._lock:
            if self._is_closed:
                return False
            self._waiting.put_back(call)
        self.wake()
        return True

    def wake(self, task: Task[Any] | None = None) -> None:
        """Send what may be sent now."""
        while self._waiting and (calls := self._send_next()):
            for call, problem in calls:
                if problem is not None:
                    call.task.fail(problem)
                call.task.tell_sent()

    def _send_next(self) -> list[tuple[RayCall, BaseException | None]]:
        """Send one run, if one may be sent; return its calls, each with what kept it back."""
        with self._lock:
            calls = [] if self._is_closed else self._waiting.take(self._under_way.num_gathered)
            outcome = [(call, call.argument_error()) for call in calls]
            sound = [call for call, problem in outcome if problem is None]
            if not sound:
                return outcome
            sent = SentCalls(self._worker, sound)
            problem = self._outgoing.send(sent)
            if problem is not None:
                return [(call, self._worker.lost(problem)) for call in calls]
            self._under_way.add(sent)
        self._completions.watch(sent)
        return outcome

    def hold(self) -> None:
        """Hold gathered calls back for a moment, so that those that come now go together."""
        self._waiting.hold()
        self._completions.look_after(self)

    def release(self) -> None:
        """Send what was held back."""
        if self._waiting.release():
            self.wake()

    def look(self) -> bool:
        """Release calls that were held back for long; return whether any still are."""
        if self._waiting.is_held_too_long():
            self.release()
        return self._waiting.is_holding

    def back(self, sent: SentCalls) -> None:
        """Hear that a run has come back; `wake` is to follow."""
        with self._lock:
            self._under_way.remove(sent)

    def doubt(self, calls: Iterable[RayCall]) -> bool:
        """Keep calls of an actor that is perhaps dead until it closes; False if that has been."""
        with self._lock:
            if self._is_closed:
                return False
            self._doubtful = [call for call in self._doubtful if not call.task.is_done()]
            self._doubtful.extend(calls)
        return True

    def close(self) -> list[RayCall]:
        """Take no more calls; return those that will never be sent or answered."""
        with self._lock:
            self._is_closed = True
            calls = [*self._waiting.take_all(), *self._doubtful]
            self._doubtful = []
        return calls

    def calls_under_way(self) -> list[RayCall]:
        """Return the calls that were sent and are not answered."""
        with self._lock:
            return self._under_way.calls()

    def run_in_turn(self) -> SentCalls | None:
        """Return what the actor should be running now."""
        with self._lock:
            return None if self._is_closed else self._under_way.in_turn()

    def seconds_since_a_sign(self) -> float:
        """Return how long ago the actor was last heard of."""
        return self._under_way.seconds_since_a_sign()

    def described(self) -> str:
        """Return what the actor has to do, for a message."""
        with self._lock:
            return f"{self._under_way.described()}, {len(self._waiting)} wait here"
