"""Which environment workers a group was configured with, and which may still join."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rlightning.config.env_config import EnvConfig
from rlightning.env.member import EnvMember, WorkerFactory
from rlightning.env.worker import ENV_PREFIX
from rlightning.env_id import EnvId, format_env_id
from rlightning.errors import CheckpointError, ConfigError
from rlightning.runtime.base import WorkerSpec


class Roster:
    """Numbers environment workers, so that no index and no random numbers are used twice.

    Also a resumed run goes on counting: indices and incarnations are part of a checkpoint.
    `new_member` is thread-safe.

    Args:
        configs: One for each kind of environment, with its number of workers.
        create_worker: Makes a worker.
        rollout_length: Steps of a fragment.
        seed: Of the run.

    Attributes:
        configured: The workers that the configuration asks for; they start with the run.

    Raises:
        ConfigError: If there is no configuration or the rollout length is below 1.
    """

    def __init__(
        self,
        configs: Sequence[EnvConfig],
        create_worker: WorkerFactory,
        rollout_length: int,
        seed: int,
    ) -> None:
        if not configs or rollout_length < 1:
            raise ConfigError(
                "expected at least one environment and a rollout length of at least 1, got "
                f"{len(configs)} environments and length {rollout_length}; correct the run"
            )
        self._configs = tuple(configs)
        self._create_worker = create_worker
        self._rollout_length = rollout_length
        self._seed = seed
        self._lock = threading.Lock()
        self._next_index = 0
        self.configured = tuple(
            self.new_member(block_index)
            for block_index, config in enumerate(configs)
            for _ in range(config.num_workers)
        )

    def new_member(self, block_index: int = 0) -> EnvMember:
        """Return another worker, which is not started, under the next index.

        Args:
            block_index: Which of the configurations it hosts, from 0.

        Raises:
            ConfigError: If there is no such configuration.
        """
        if not 0 <= block_index < len(self._configs):
            raise ConfigError(
                f"expected the index of one of {len(self._configs)} environment blocks, got "
                f"{block_index}; they are numbered from 0 in the order of the configuration"
            )
        with self._lock:
            index = self._next_index
            self._next_index += 1
        config = self._configs[block_index]
        env_id = format_env_id(EnvId(ENV_PREFIX, index))
        factory = partial(self._create_worker, config, index, self._rollout_length, self._seed)
        spec = WorkerSpec(env_id, factory, call_timeout_seconds=config.timeout_seconds)
        return EnvMember(env_id, config, self._seed, index, factory, spec, block_index)

    def kind_of_block(self, block_index: int) -> str:
        """Return the kind name of the workers of a configuration."""
        return next(each.kind for each in self.configured if each.block_index == block_index)

    def state(self, workers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return what a checkpoint holds of a group.

        Args:
            workers: Generator states of the workers that are there, by id. A configured one that
                left is added, with the state with which another incarnation of it would start.
        """
        left = {
            member.env_id: member.fresh_state()
            for member in self.configured
            if member.env_id not in workers
        }
        return {
            "num_configured": len(self.configured),
            "next_index": self._next_index,
            "workers": {**workers, **left},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Count on from a state.

        Raises:
            CheckpointError: If it is one of another number of configured workers, or damaged.
        """
        own = [member.env_id for member in self.configured]
        workers = state.get("workers", {})
        number = int(state.get("num_configured", len(workers)))
        if number != len(own) or not set(own) <= set(workers):
            raise CheckpointError(
                f"expected states of {', '.join(own)}, got {', '.join(list(workers)[:number])}; "
                "resume with as many environment workers as the run was configured with"
            )
        with self._lock:
            self._next_index = max(self._next_index, int(state["next_index"]))
