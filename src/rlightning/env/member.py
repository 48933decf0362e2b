"""One environment worker of a group, as it is started and started again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from rlightning.config.env_config import EnvConfig
from rlightning.env.random_streams import RandomStreams
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
        block_index: Which of the configurations it hosts.
        incarnation: Which one lives, or is started now.
        kind: Name of the kind of its spaces; empty until it was asked.
    """

    env_id: str
    config: EnvConfig
    seed: int
    worker_index: int
    create: WorkerFactory
    first_spec: WorkerSpec
    block_index: int = 0
    incarnation: int = 1
    kind: str = ""
    _handle: WorkerHandle | None = None

    @property
    def is_started(self) -> bool:
        """Whether it was ever started."""
        return self._handle is not None

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
        incarnation = self.incarnation + 1
        streams = RandomStreams(self.seed, self.worker_index, incarnation)
        return {**streams.state(), "incarnation": incarnation}
