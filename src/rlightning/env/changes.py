"""Environment workers that join and leave while a run goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from rlightning.clock import Clock, monotonic_clock
from rlightning.env.attendance import Attendance
from rlightning.env.closing import close_workers
from rlightning.env.member import EnvMember
from rlightning.errors import EnvironmentFailedError, RLightningError
from rlightning.runtime.base import WorkerHandle

logger = logging.getLogger(__name__)

SECONDS_TO_CLOSE = 10.0
"""Longest wait for the environment of a worker that leaves."""


class Changes:
    """Keeps who wants to join or leave until the thread of the engine lets them.

    Whoever joins begins between two fragments. Whoever leaves finishes the fragment under
    collection, unless its deadline comes first; then it goes at once, and the answered steps of
    that fragment are counted as lost.

    `join` and `leave` are thread-safe; everything else is for the thread of the engine.

    Args:
        attendance: Of the group.
        reset: Called with each worker that takes part from now on.
        clock: Seconds.

    Attributes:
        on_left: Called with the id of each worker that is gone.
    """

    def __init__(
        self,
        attendance: Attendance,
        reset: Callable[[EnvMember], object],
        clock: Clock = monotonic_clock,
    ) -> None:
        self.on_left: Callable[[str], object] = lambda env_id: None
        self._attendance = attendance
        self._reset = reset
        self._clock = clock
        self._lock = threading.Lock()
        self._joining: dict[str, EnvMember] = {}
        self._leaving: dict[str, float] = {}
        self._is_pending = False
        self._is_between_fragments = True

    def join(self, member: EnvMember) -> None:
        """Let a worker that was started take part from the next fragment on."""
        with self._lock:
            self._joining[member.env_id] = member
            self._is_pending = True

    def leave(self, env_id: str, drain_seconds: float) -> None:
        """Let a worker go after the fragment under collection, or when the time is over.

        Raises:
            EnvironmentFailedError: If there is no such worker, or nobody would stay.
        """
        with self._lock:
            if env_id not in self._joining:
                self._attendance.member(env_id)
            staying = {*self._attendance.members, *self._joining} - {*self._leaving, env_id}
            if not staying:
                raise EnvironmentFailedError(
                    f"expected an environment worker to stay, got the removal of {env_id}, the "
                    "last one; add another one first",
                    worker_id=env_id,
                )
            self._leaving.setdefault(env_id, self._clock() + drain_seconds)
            self._is_pending = True

    def joining_handles(self) -> list[WorkerHandle]:
        """Return the handles of those that were started and do not take part yet."""
        with self._lock:
            return [member.handle for member in self._joining.values()]

    def fragment_ended(self) -> None:
        """Hear that nobody has a fragment under collection."""
        self._is_between_fragments = True

    def round_begins(self) -> None:
        """Let those come and go whose time it is, before all observations are handed out."""
        is_between = self._is_between_fragments
        self._is_between_fragments = False
        if not self._is_pending:
            return
        with self._lock:
            joining = self._take_joining() if is_between else []
            going = self._take_going([member.env_id for member in joining], is_between)
            self._is_pending = bool(self._joining or self._leaving)
        for member in joining:
            self._attendance.join(member)
            self._reset(member)
        for env_id in going:
            self._let_go(env_id, is_orderly=is_between)

    def _take_joining(self) -> list[EnvMember]:
        joining, self._joining = self._joining, {}
        return list(joining.values())

    def _take_going(self, joining: Iterable[str], is_between: bool) -> list[str]:
        present = {*self._attendance.members, *joining}
        going = [
            env_id
            for env_id, deadline in self._leaving.items()
            if env_id in present and (is_between or self._clock() >= deadline)
        ]
        for env_id in going:
            del self._leaving[env_id]
        return going

    def let_dead_go(self) -> None:
        """Let those go that died before they could leave: nobody shall bring them back."""
        with self._lock:
            going = [env_id for env_id in self._leaving if env_id in self._attendance.lost]
            for env_id in going:
                del self._leaving[env_id]
        for env_id in going:
            self._let_go(env_id, is_orderly=False)

    def _let_go(self, env_id: str, *, is_orderly: bool) -> None:
        handle = self._attendance.leave(env_id).handle
        if is_orderly:
            try:
                close_workers([handle], SECONDS_TO_CLOSE)
            except RLightningError as error:
                logger.warning("%s left, its environment did not close: %s", env_id, error)
        handle.kill()
        self.on_left(env_id)
