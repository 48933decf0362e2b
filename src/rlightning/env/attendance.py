"""Which environment workers take part, and what was lost with those that died."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping

from rlightning.env.member import EnvMember
from rlightning.env.turns import Turns
from rlightning.errors import (
    EnvironmentFailedError,
    EnvironmentRaisedError,
    WorkerDiedError,
    WorkerError,
    WorkerLostError,
)
from rlightning.registry import did_you_mean
from rlightning.runtime.base import Task
from rlightning.runtime.lost_worker import LostWorker
from rlightning.types import Fragment, ObservationBatch


class Attendance:
    """Knows all workers of a group, who of them is missing, and what went with those.

    A worker that is lost takes no part until it rejoins; its fragment is given up, and the
    answered steps of it are counted. Used by one thread.

    Args:
        members: All workers, in order.
        turns: Where a lost worker is forgotten.

    Attributes:
        losses: Errors by which a worker is lost, because somebody brings it back. Without that,
            none: a death is an error like others.
        members: All workers by id. The mapping is replaced, not changed, by who comes or goes.
        lost: Those that are missing, by id.
    """

    def __init__(self, members: Iterable[EnvMember], turns: Turns) -> None:
        self.losses: tuple[type[WorkerError], ...] = ()
        self.members: Mapping[str, EnvMember] = {member.env_id: member for member in members}
        self.lost: dict[str, LostWorker] = {}
        self._turns = turns
        self._steps = {env_id: _AnsweredSteps() for env_id in self.members}
        self._handed_out: dict[str, tuple[EnvMember, _AnsweredSteps]] = {}
        self._dropped: list[tuple[EnvMember, _AnsweredSteps]] = []

    def member(self, env_id: str) -> EnvMember:
        """Return one worker, missing or not.

        Raises:
            EnvironmentFailedError: If there is none of that id.
        """
        member = self.members.get(env_id)
        if member is None:
            raise EnvironmentFailedError(
                f"expected an environment worker of this group, got {env_id!r}"
                f"{did_you_mean(env_id, self.members)}; use one of env_ids"
            )
        return member

    def present(self) -> list[EnvMember]:
        """Return those that take part."""
        return [member for env_id, member in self.members.items() if env_id not in self.lost]

    def join(self, member: EnvMember) -> None:
        """Let a new worker take part."""
        self._steps[member.env_id] = _AnsweredSteps()
        self.members = {**self.members, member.env_id: member}

    def leave(self, env_id: str) -> EnvMember:
        """Let a worker go for good; steps of a fragment under collection are lost and counted."""
        member = self.member(env_id)
        if self.lost.pop(env_id, None) is None:
            self._give_up_fragment(env_id)
        self.members = {name: each for name, each in self.members.items() if name != env_id}
        del self._steps[env_id]
        return member

    def step_sent(self, env_id: str, task: Task[ObservationBatch]) -> None:
        """Note a step of the fragment under collection."""
        self._steps[env_id].sent(task)

    def fragment_ended(self, env_id: str) -> None:
        """Begin to count anew: the fragment was handed out, or given up by a reset."""
        self._steps[env_id] = _AnsweredSteps()

    def dropped_steps(self) -> dict[str, int]:
        """Return the answered steps whose fragment was lost, by worker id, since the start.

        A step of a worker with several sub-environments counts once for each of them. An answer
        that was under way when its worker was found dead counts once it has come.
        """
        counts: Counter[str] = Counter()
        for member, steps in self._dropped:
            counts[member.env_id] += steps.count() * member.config.num_envs
        return {env_id: count for env_id, count in counts.items() if count}

    def supervise(self, *, restarts_raising: bool) -> None:
        """Take it that somebody brings back workers that died.

        Args:
            restarts_raising: And those whose environment raised. What is wrong with the answers
                of an environment (a shape, a number that is not finite) would be so again.
        """
        raised = (EnvironmentRaisedError,) if restarts_raising else ()
        self.losses = (WorkerDiedError, *raised)

    @property
    def is_supervised(self) -> bool:
        """Whether somebody brings lost workers back."""
        return bool(self.losses)

    def is_loss(self, env_id: str, error: BaseException | None) -> bool:
        """Return whether an error tells that this worker is lost, and somebody sees to it.

        So it is, although it lives, if the answer is gone that its step was to act on: a replica
        died after it had answered, and the answer with its node.
        """
        if not isinstance(error, self.losses) or isinstance(error, WorkerLostError):
            return False
        return error.worker_id == env_id or isinstance(error, WorkerDiedError)

    def fragments_to_come(self, tasks: Mapping[str, Task[Fragment]]) -> list[Task[Fragment]]:
        """Count every fragment as handed out, come what may: nobody brings workers back."""
        for env_id in tasks:
            self.fragment_ended(env_id)
        return list(tasks.values())

    def fragments_of(self, tasks: Mapping[str, Task[Fragment]]) -> list[Task[Fragment]]:
        """Return the tasks of those fragments that came, in order; all are done."""
        return [task for env_id, task in tasks.items() if self._has_fragment(env_id, task)]

    def _has_fragment(self, env_id: str, task: Task[Fragment]) -> bool:
        """Return whether a fragment came, False if its worker was lost; raise other errors."""
        error = task.error()
        if error is None:
            self._handed_out[env_id] = (self.members[env_id], self._steps[env_id])
            self.fragment_ended(env_id)
            return True
        if not self.is_loss(env_id, error):
            raise error
        self.lose(env_id, error)
        return False

    def fragment_lost(self, error: WorkerDiedError) -> bool:
        """Take note that the newest fragment that was handed out is gone with its node.

        Args:
            error: Names the worker that had collected it.

        Returns:
            False if it tells of something else.
        """
        handed_out = self._handed_out.pop(error.worker_id or "", None)
        if handed_out is None or not self.is_supervised:
            return False
        self._dropped.append(handed_out)
        return True

    def rejoin(self, env_id: str) -> None:
        """Let a worker take part again."""
        self.lost.pop(env_id, None)

    def lose(self, env_id: str, error: BaseException) -> None:
        """Take note of the loss of a worker.

        Raises:
            BaseException: The error itself, if nobody brings the worker back after such a one.
        """
        if not self.is_loss(env_id, error):
            raise error
        self._note(LostWorker.seen_in(self.members[env_id].handle, error))

    def find_dead(self) -> None:
        """Take note of those who died while nobody waited for them."""
        for member in self.present():
            if not member.handle.is_alive():
                self._note(LostWorker.found_dead(member.handle))

    def _note(self, lost: LostWorker) -> None:
        env_id = lost.worker_id
        self.lost[env_id] = lost
        self._give_up_fragment(env_id)

    def _give_up_fragment(self, env_id: str) -> None:
        self._dropped.append((self.members[env_id], self._steps[env_id]))
        self.fragment_ended(env_id)
        self._turns.forget(env_id)


class _AnsweredSteps:
    """Counts tasks that ended with an answer, and keeps only those that have not ended."""

    __slots__ = ("_num_answered", "_under_way")

    def __init__(self) -> None:
        self._num_answered = 0
        self._under_way: deque[Task[ObservationBatch]] = deque()

    def sent(self, task: Task[ObservationBatch]) -> None:
        self._under_way.append(task)
        self.count()

    def count(self) -> int:
        under_way = self._under_way
        while under_way and under_way[0].is_done():
            self._num_answered += under_way.popleft().error() is None
        return self._num_answered
