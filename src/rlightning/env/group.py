"""All environment workers of a run, as the engine sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.attendance import Attendance
from rlightning.env.closing import close_workers
from rlightning.env.identities import refuse_shared_ids
from rlightning.env.member import EnvMember, WorkerFactory, create_members
from rlightning.env.space_kind import SpaceKind
from rlightning.env.turns import Turns
from rlightning.env.worker import EnvWorker
from rlightning.errors import (
    CheckpointError,
    ConfigError,
    RLightningError,
    WorkerDiedError,
)
from rlightning.runtime.base import (
    DEFAULT_STOP_SECONDS,
    Runtime,
    Task,
    WorkerHandle,
    WorkerSpec,
)
from rlightning.runtime.lost_worker import LostWorker
from rlightning.types import ActionBatch, Fragment, ObservationBatch


class EnvGroup:
    """Environment workers ``env-0``, ``env-1``, …, numbered across all configurations.

    It hands out tasks, not values: observations and actions stay where they are. For each worker
    the order is `reset`, then in turn: its newest observations are taken, and its step follows.
    Used by one thread.

    Attributes:
        env_ids: Ids of all workers, in order.
        rollout_length: Steps of a fragment.
        kinds: What differs for a policy, by kind name, in order of the first worker of each.
        newest: Task of the newest observations of each worker, taken or not.
    """

    def __init__(
        self,
        runtime: Runtime,
        submitter: TaskSubmitter,
        configs: Sequence[EnvConfig],
        rollout_length: int,
        seed: int,
        *,
        create_worker: WorkerFactory = EnvWorker,
    ) -> None:
        """Start all workers.

        Args:
            runtime: Hosts them.
            submitter: Sends the calls.
            configs: One for each kind of environment.
            rollout_length: Steps of a fragment, at least 1.
            seed: Of the run.
            create_worker: Makes a worker.

        Raises:
            ConfigError: If there is no configuration or the rollout length is below 1.
            EnvironmentFailedError: If an environment cannot be made, or two workers have one id.
        """
        if not configs or rollout_length < 1:
            raise ConfigError(
                "expected at least one environment and a rollout length of at least 1, got "
                f"{len(configs)} environments and length {rollout_length}; correct the run"
            )
        self.rollout_length = rollout_length
        self._runtime = runtime
        self._submitter = submitter
        self._members: dict[str, EnvMember] = {}
        self._turns = Turns()
        self.newest: Mapping[str, Task[ObservationBatch]] = self._turns.newest
        try:
            self._spawn_all(create_members(configs, create_worker, rollout_length, seed))
            refuse_shared_ids(self._ask_all("identity"))
            kinds = self._ask_all("kind")
        except BaseException:
            with suppress(RLightningError):
                self.close()
            raise
        self.env_ids = tuple(self._members)
        self._attendance = Attendance(self._members.values(), self._turns)
        self._kind_of: dict[str, str] = {env_id: kind.name for env_id, kind in kinds.items()}
        self.kinds: Mapping[str, SpaceKind] = {kind.name: kind for kind in kinds.values()}

    def _spawn_all(self, members: Sequence[EnvMember]) -> None:
        handles = self._runtime.spawn_all(member.first_spec for member in members)
        for member, handle in zip(members, handles, strict=True):
            member.handle = handle
            self._members[member.env_id] = member

    def sub_env_ids(self) -> list[str]:
        """Return the ids of all sub-environments, such as ``env-1/0``, in order."""
        return [
            f"{member.env_id}/{index}"
            for member in self._members.values()
            for index in range(member.config.num_envs)
        ]

    def kind_of(self, env_id: str) -> str:
        """Return the kind name of a worker."""
        return self._kind_of[self._attendance.member(env_id).env_id]

    def environment_names(self) -> dict[str, str]:
        """Return what each worker hosts, such as ``CartPole-v1``, by worker id."""
        return {member.env_id: member.config.id for member in self._members.values()}

    def handles(self) -> list[WorkerHandle]:
        """Return the handles of all workers, in order."""
        return [member.handle for member in self._members.values()]

    def wait_seconds(self) -> dict[str, float]:
        """Return how long calls waited for room, summed, by worker id."""
        waited = self._submitter.wait_seconds()
        return {env_id: waited.get(env_id, 0.0) for env_id in self._members}

    def reset(self) -> None:
        """Start new episodes everywhere; unfinished fragments are dropped."""
        for member in self._attendance.present():
            self._reset(member)

    def _reset(self, member: EnvMember) -> None:
        self._attendance.fragment_ended(member.env_id)
        self._turns.expect(member.env_id, self._submitter.submit(member.handle, "reset"))

    def observations(self) -> Iterator[tuple[str, Task[ObservationBatch]]]:
        """Take the newest observations of every worker that has some, in order of their calls.

        A worker may be stepped as soon as its pair was handed out; what it shows then belongs
        to the next round. There are none while every worker is lost.

        Raises:
            EnvironmentFailedError: If all were taken already: there would be nothing to receive.
        """
        if self._attendance.lost and not self._turns.num_untaken:
            return iter(())
        return self._turns.take_each(self._attendance.lose)

    def take(self, env_id: str) -> Task[ObservationBatch]:
        """Take the newest observations of one worker.

        Raises:
            EnvironmentFailedError: If they were taken already, or the worker was never reset.
            BaseException: The error of the step that should have shown them, if it has failed.
        """
        return self._turns.take(self._attendance.member(env_id).env_id)

    def step(self, env_id: str, action: Task[ActionBatch] | ActionBatch) -> None:
        """Let one worker act; its newest observations must have been taken before.

        Args:
            env_id: Which worker.
            action: The answer, or the task that will hold it.

        Raises:
            EnvironmentFailedError: If the worker's observations were not taken since its last
                step, so that this cannot be the answer to them, or it was never reset.
        """
        member = self._attendance.member(env_id)
        self._turns.check_may_step(env_id)
        task = self._submitter.submit(member.handle, "step", action)
        self._turns.expect(env_id, task)
        self._attendance.step_sent(env_id, task)

    def take_fragments(self) -> list[Task[Fragment]]:
        """Ask every worker for its full fragment; one task each, in order of the workers.

        The error of a step that failed becomes the error of the worker's fragment. Under
        supervision it waits for all of them, and leaves out those of workers that died.

        Raises:
            BaseException: Under supervision, any other error of a fragment.
            TaskTimeoutError: Under supervision, if no further fragment comes in time.
        """
        tasks = {
            member.env_id: self._submitter.submit(
                member.handle, "take_fragment", self.newest.get(member.env_id)
            )
            for member in self._attendance.present()
        }
        if not self._attendance.is_supervised:
            return list(tasks.values())
        pending = [task for task in tasks.values() if not task.is_done()]
        while pending:
            _, pending = self._runtime.wait_any(pending, self._submitter.timeout_seconds)
        return [
            task for env_id, task in tasks.items() if self._attendance.has_fragment(env_id, task)
        ]

    def give_up_fragment(self, error: WorkerDiedError) -> bool:
        """Count the newest fragment of a worker as dropped, which is gone with its node.

        Args:
            error: Of a call that should have had it; names the worker.

        Returns:
            False if that is not what the error tells of, or nobody supervises.
        """
        return self._attendance.fragment_lost(error)

    def supervise(self, *, restarts_raising: bool = False) -> None:
        """Let the group go on without workers that died, or whose environment raised."""
        self._attendance.supervise(restarts_raising=restarts_raising)

    def lost(self) -> list[LostWorker]:
        """Return the workers that died and did not rejoin, also those that nobody missed yet."""
        self._attendance.find_dead()
        return list(self._attendance.lost.values())

    def has_present(self) -> bool:
        """Return whether any worker takes part."""
        return bool(self._attendance.present())

    def next_spec(self, env_id: str) -> WorkerSpec:
        """Return what another incarnation of a worker is to be started with."""
        return self._attendance.member(env_id).next_spec()

    def rejoin(self, handle: WorkerHandle) -> None:
        """Let a worker take part that was started anew; it begins with a reset."""
        member = self._attendance.member(handle.worker_id)
        member.handle = handle
        self._attendance.rejoin(member.env_id)
        self._reset(member)

    def dropped_steps(self) -> dict[str, int]:
        """Return environment steps that were lost with fragments of workers that died.

        Exact: the steps whose answer had come. A step on which a simulator resets counts.
        """
        return self._attendance.dropped_steps()

    def states(self) -> dict[str, Any]:
        """Return the state of every worker's random generators, by worker id.

        Of one that is dead, under supervision, it is the state with which it will start anew.
        """
        tasks = {
            env_id: self._submitter.submit(member.handle, "state")
            for env_id, member in self._members.items()
        }
        return {env_id: self._state(env_id, task) for env_id, task in tasks.items()}

    def _state(self, env_id: str, task: Task[Any]) -> Any:
        try:
            return task.result()
        except WorkerDiedError as error:
            if not self._attendance.is_loss(env_id, error):
                raise
            return self._members[env_id].fresh_state()

    def restore(self, states: Mapping[str, Any]) -> None:
        """Take over states; `reset` must follow and starts new episodes.

        Raises:
            CheckpointError: If they belong to other workers or are damaged.
        """
        if set(states) != set(self._members):
            raise CheckpointError(
                f"expected states of {', '.join(self._members)}, got {', '.join(states)}; "
                "resume with as many environment workers as the run had"
            )
        self._turns.clear()
        for env_id, member in self._members.items():
            self._submitter.submit(member.handle, "restore", states[env_id]).result()

    def close(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Close all environments and stop their workers; a second call does nothing.

        Args:
            timeout_seconds: Longest wait for all of them together.

        Raises:
            RLightningError: The first error, after all others were closed.
        """
        close_workers(self.handles(), timeout_seconds)

    def __repr__(self) -> str:
        hosted = ", ".join(f"{env_id}: {name}" for env_id, name in self.environment_names().items())
        return f"<{type(self).__name__} {hosted}; {self._turns.num_untaken} observations not taken>"

    def _ask_all(self, method: str) -> dict[str, Any]:
        tasks = {
            env_id: self._submitter.submit(member.handle, method)
            for env_id, member in self._members.items()
        }
        return {env_id: task.result() for env_id, task in tasks.items()}
