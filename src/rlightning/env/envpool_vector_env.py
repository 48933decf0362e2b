"""EnvPool's simulators behind Gymnasium's vectorised interface."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlightning.config.env_config import EnvConfig
from rlightning.errors import ConfigError, EnvironmentFailedError
from rlightning.registry import did_you_mean

ENVPOOL_PREFIX = "envpool:"


class EnvPoolVectorEnv(VectorEnv[Any, Any, Any]):
    """One pool of EnvPool; a seeded reset makes a new one, because a pool's seed is fixed.

    Args:
        make_pool: Makes the pool when called with ``seed=…``.
        num_envs: Sub-environments of the pool.
    """

    def __init__(self, make_pool: partial[Any], num_envs: int) -> None:
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self._make_pool = make_pool
        self._pool = make_pool(seed=0)
        self.single_observation_space = self._pool.single_observation_space
        self.single_action_space = self._pool.single_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode everywhere; there are no options."""
        if seed is not None:
            self._pool.close()
            self._pool = self._make_pool(seed=seed)
        observation, infos = self._pool.reset()
        return observation, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all sub-environments; the step after an episode's end resets."""
        observation, reward, terminated, truncated, infos = self._pool.step(actions)
        return observation, reward, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Close the pool."""
        self._pool.close()


def make_envpool(config: EnvConfig) -> EnvPoolVectorEnv:
    """Make an environment whose id is ``envpool:`` and EnvPool's own name of it.

    Raises:
        ImportError: If EnvPool is not installed.
        EnvironmentFailedError: If EnvPool has no such environment; the nearest one is named.
        ConfigError: If single environments are asked for, of which EnvPool has none.
    """
    if config.wrappers or config.vectorization == "sync":
        raise ConfigError(
            f"expected {config.id!r} without wrappers and not one after the other, because "
            "EnvPool steps all sub-environments at once; set env.vectorization to 'auto' and "
            "leave env.wrappers empty"
        )
    envpool = importlib.import_module("envpool")
    name = config.id.removeprefix(ENVPOOL_PREFIX)
    known = envpool.list_all_envs()
    if name not in known:
        raise EnvironmentFailedError(
            f"expected an environment of EnvPool, got {config.id!r}{did_you_mean(name, known)}; "
            "envpool.list_all_envs() lists them"
        )
    num_envs = config.num_envs
    make_pool = partial(envpool.make_gymnasium, name, num_envs=num_envs, **config.kwargs)
    return EnvPoolVectorEnv(make_pool, num_envs)
