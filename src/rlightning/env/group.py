"""All environment workers of a run, as the engine sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rlightning.clock import monotonic_clock
from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.space_kind import SpaceKind
from rlightning.env.turns import Turns
from rlightning.env.worker import ENV_PREFIX, EnvWorker
from rlightning.env_id import EnvId, format_env_id
from rlightning.errors import CheckpointError, ConfigError, EnvironmentFailedError, RLightningError
from rlightning.registry import did_you_mean
from rlightning.runtime.base import (
    DEFAULT_STOP_SECONDS,
    Runtime,
    Task,
    WorkerHandle,
    WorkerSpec,
)
from rlightning.types import ActionBatch, Fragment, ObservationBatch

WorkerFactory: TypeAlias = Callable[[EnvConfig, int, int, int], object]


@dataclass(frozen=True, slots=True)
class _Member:
    """One environment worker and what is known of it."""

    env_id: str
    config: EnvConfig
    handle: WorkerHandle


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
            create_worker: Makes a worker from configuration, index, rollout length and seed.

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
        self._submitter = submitter
        self._members: dict[str, _Member] = {}
        self._turns = Turns()
        self.newest: Mapping[str, Task[ObservationBatch]] = self._turns.newest
        try:
            self._spawn_all(runtime, configs, partial(_create, create_worker, rollout_length, seed))
            self._refuse_shared_ids()
            kinds = self._ask_all("kind")
        except BaseException:
            with suppress(RLightningError):
                self.close()
            raise
        self.env_ids = tuple(self._members)
        self._kind_of: dict[str, str] = {env_id: kind.name for env_id, kind in kinds.items()}
        self.kinds: Mapping[str, SpaceKind] = {kind.name: kind for kind in kinds.values()}

    def _spawn_all(
        self,
        runtime: Runtime,
        configs: Sequence[EnvConfig],
        create: Callable[[EnvConfig, int], object],
    ) -> None:
        hosted = [config for config in configs for _ in range(config.num_workers)]
        specs = [
            WorkerSpec(
                worker_id=format_env_id(EnvId(ENV_PREFIX, index)),
                factory=partial(create, config, index),
                call_timeout_seconds=config.timeout_seconds,
            )
            for index, config in enumerate(hosted)
        ]
        for config, handle in zip(hosted, runtime.spawn_all(specs), strict=True):
            self._members[handle.worker_id] = _Member(handle.worker_id, config, handle)

    def _refuse_shared_ids(self) -> None:
        """Refuse two workers that stamp their data with one id, or a worker with a wrong one."""
        owner: dict[str, str] = {}
        for env_id, stamped in self._ask_all("identity").items():
            if stamped in owner:
                raise EnvironmentFailedError(
                    f"expected every environment worker to have an id of its own, got {stamped!r} "
                    f"for both {owner[stamped]} and {env_id}; pass the worker's index on"
                )
            owner[stamped] = env_id

    def sub_env_ids(self) -> list[str]:
        """Return the ids of all sub-environments, such as ``env-1/0``, in order."""
        return [
            f"{member.env_id}/{index}"
            for member in self._members.values()
            for index in range(member.config.num_envs)
        ]

    def kind_of(self, env_id: str) -> str:
        """Return the kind name of a worker."""
        return self._kind_of[self._member(env_id).env_id]

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
        for member in self._members.values():
            task = self._submitter.submit(member.handle, "reset")
            self._turns.expect(member.env_id, task)

    def observations(self) -> Iterator[tuple[str, Task[ObservationBatch]]]:
        """Take the newest observations of every worker that has some, in order of their calls.

        A worker may be stepped as soon as its pair was handed out; what it shows then belongs
        to the next round.

        Raises:
            EnvironmentFailedError: If all were taken already: there would be nothing to receive.
        """
        return self._turns.take_each()

    def take(self, env_id: str) -> Task[ObservationBatch]:
        """Take the newest observations of one worker.

        Raises:
            EnvironmentFailedError: If they were taken already, or the worker was never reset.
            BaseException: The error of the step that should have shown them, if it has failed.
        """
        return self._turns.take(self._member(env_id).env_id)

    def step(self, env_id: str, action: Task[ActionBatch] | ActionBatch) -> None:
        """Let one worker act; its newest observations must have been taken before.

        Args:
            env_id: Which worker.
            action: The answer, or the task that will hold it.

        Raises:
            EnvironmentFailedError: If the worker's observations were not taken since its last
                step, so that this cannot be the answer to them, or it was never reset.
        """
        member = self._member(env_id)
        self._turns.check_may_step(env_id)
        self._turns.expect(env_id, self._submitter.submit(member.handle, "step", action))

    def take_fragments(self) -> list[Task[Fragment]]:
        """Ask every worker for its full fragment; one task each, in order of the workers.

        The error of a step that failed becomes the error of the worker's fragment.
        """
        return [
            self._submitter.submit(member.handle, "take_fragment", self.newest.get(env_id))
            for env_id, member in self._members.items()
        ]

    def states(self) -> dict[str, Any]:
        """Return the state of every worker's random generators, by worker id."""
        return self._ask_all("state")

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
        errors: list[RLightningError] = []
        deadline = monotonic_clock() + timeout_seconds
        living = [member.handle for member in self._members.values() if member.handle.is_alive()]
        for handle, task in [(handle, handle.call("close")) for handle in living]:
            try:
                task.result(max(0.0, deadline - monotonic_clock()))
            except RLightningError as error:
                errors.append(error)
            handle.kill()
        if errors:
            raise errors[0]

    def __repr__(self) -> str:
        hosted = ", ".join(f"{env_id}: {name}" for env_id, name in self.environment_names().items())
        return f"<{type(self).__name__} {hosted}; {self._turns.num_untaken} observations not taken>"

    def _ask_all(self, method: str) -> dict[str, Any]:
        tasks = {
            env_id: self._submitter.submit(member.handle, method)
            for env_id, member in self._members.items()
        }
        return {env_id: task.result() for env_id, task in tasks.items()}

    def _member(self, env_id: str) -> _Member:
        member = self._members.get(env_id)
        if member is None:
            raise EnvironmentFailedError(
                f"expected an environment worker of this group, got {env_id!r}"
                f"{did_you_mean(env_id, self._members)}; use one of env_ids"
            )
        return member


def _create(
    create_worker: WorkerFactory, rollout_length: int, seed: int, config: EnvConfig, index: int
) -> object:
    return create_worker(config, index, rollout_length, seed)
