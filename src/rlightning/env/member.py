"""One environment worker of a group, as it is started and started again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from rlightning.config.env_config import EnvConfig
from rlightning.env.random_streams import RandomStreams
from rlightning.env.worker import ENV_PREFIX
from rlightning.env_id import EnvId, format_env_id
from rlightning.runtime.base import WorkerHandle, WorkerSpec

WorkerFactory: TypeAlias = Callable[..., object]
"""Makes a worker from configuration, index, rollout length and seed, such as `EnvWorker`.

A restarted one is also told its incarnation, as the fifth argument.
"""


@dataclass(slots=True)
class EnvMember:
    """One environment worker and what is known of it.

    Attributes:
        env_id: Its id, whatever its incarnation.
        config: What it hosts.
        seed: Of the run.
        worker_index: Number over all configurations.
        create: Makes a worker; its only argument is the incarnation, left out for the first.
        first_spec: What its first incarnation was started with.
        incarnation: Which one lives, or is started now.
    """

    env_id: str
    config: EnvConfig
    seed: int
    worker_index: int
    create: WorkerFactory
    first_spec: WorkerSpec
    incarnation: int = 1
    _handle: WorkerHandle | None = None

    @property
    def handle(self) -> WorkerHandle:
        """The newest incarnation that was started."""
        if self._handle is None:
            raise RuntimeError(f"{self.env_id} was not started")
        return self._handle

    @handle.setter
    def handle(self, handle: WorkerHandle) -> None:
        self._handle = handle

    def next_spec(self) -> WorkerSpec:
        """Return what another incarnation is started with: other random numbers, else the same."""
        self.incarnation += 1
        return replace(self.first_spec, factory=partial(self.create, self.incarnation))

    def fresh_state(self) -> dict[str, Any]:
        """Return the state of the generators with which the next incarnation would start."""
        return RandomStreams(self.seed, self.worker_index, self.incarnation + 1).state()


def create_members(
    configs: Sequence[EnvConfig], create_worker: WorkerFactory, rollout_length: int, seed: int
) -> list[EnvMember]:
    """Return the members for all configurations, numbered across them; nothing is started."""
    hosted = [config for config in configs for _ in range(config.num_workers)]
    members = []
    for index, config in enumerate(hosted):
        env_id = format_env_id(EnvId(ENV_PREFIX, index))
        factory = partial(create_worker, config, index, rollout_length, seed)
        spec = WorkerSpec(env_id, factory, call_timeout_seconds=config.timeout_seconds)
        members.append(EnvMember(env_id, config, seed, index, factory, spec))
    return members
