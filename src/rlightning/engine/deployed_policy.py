"""A trained policy for use outside of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Space
from gymnasium.spaces import Dict as DictSpace
from gymnasium.spaces import Tuple as TupleSpace
from gymnasium.vector.utils import concatenate, create_empty_array

from rlightning.config.env_config import EnvConfig
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import policy_factory
from rlightning.env.action_adapter import create_action_adapter
from rlightning.env.action_noise import draw_noise
from rlightning.env.finite import is_finite
from rlightning.env.make import make_vector_env
from rlightning.env.observation_adapter import create_observation_adapter
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import CheckpointError, NotFiniteError, SpaceError


class DeployedPolicy:
    """Turns observations into actions, as the environment gives and takes them.

    Observations are flattened and normalised and actions clipped just as in training.
    Not thread-safe.

    Args:
        config: Of the run.
        env: Which of its environments is played.
        state: As a checkpoint holds it.
        seed: Of actions that are drawn at random.

    Raises:
        CheckpointError: If the state belongs to environments with other spaces.
    """

    def __init__(
        self, config: RunConfig, env: EnvConfig, state: Mapping[str, Any], seed: int = 0
    ) -> None:
        self._observation_space, action_space = _spaces(env)
        self._observations = create_observation_adapter(
            self._observation_space, flatten=env.flatten_observation
        )
        self._actions = create_action_adapter(action_space)
        self.kind = SpaceKind(self._observations.space, self._actions.space)
        self._generator = np.random.default_rng(seed)
        self._policy = policy_factory(config, self.kind)().eval()
        self._policy.load_state_dict(_weights(state, self.kind))

    def act(self, observation: Any, *, deterministic: bool = True) -> Any:
        """Return the action for one observation.

        Args:
            observation: As the environment gives it, without a batch axis.
            deterministic: Take the most likely action instead of a random one.

        Raises:
            SpaceError: If the observation does not fit the space. A number beyond the bounds of
                a `Box` fits, as in training.
            NotFiniteError: If it holds NaN or an infinity.
        """
        if not _fits(observation, self._observation_space):
            raise SpaceError(
                f"expected one observation of {self._observation_space}, got "
                f"{_described(observation)}; pass it as the environment gives it, "
                "without a batch axis"
            )
        space = self._observation_space
        empty: Any = create_empty_array(space, n=1)
        batch = concatenate(space, [observation], empty)
        seen = np.empty((1, *self.kind.observation_space.shape), self.kind.observation_space.dtype)
        self._observations.write(batch, seen)
        if not is_finite(seen):
            raise NotFiniteError(
                f"expected a finite observation, got {observation!r}; look at its source"
            )
        noise = draw_noise(self._generator, self.kind.action_space, (1,))
        with torch.inference_mode():
            output = self._policy.act(
                torch.from_numpy(seen), torch.from_numpy(noise), deterministic
            )
        return self._actions.to_env(output.action.numpy())[0]


def _spaces(env: EnvConfig) -> tuple[Space[Any], Space[Any]]:
    vector_env = make_vector_env(env.model_copy(update={"num_envs": 1}))
    try:
        return vector_env.single_observation_space, vector_env.single_action_space
    finally:
        vector_env.close()


def _weights(state: Mapping[str, Any], kind: SpaceKind) -> Mapping[str, Any]:
    learner = state["learner"]
    if kind.name not in learner:
        raise CheckpointError(
            f"expected weights for the spaces {kind.name}, got a checkpoint of "
            f"{', '.join(learner)}; the environment has changed since the training"
        )
    weights: Mapping[str, Any] = learner[kind.name]["policy"]
    return weights


def _fits(observation: Any, space: Space[Any]) -> bool:
    """Return whether an observation has the structure of a space; lists pass for arrays."""
    if isinstance(space, DictSpace):
        return isinstance(observation, Mapping) and all(
            name in observation and _fits(observation[name], part)
            for name, part in space.spaces.items()
        )
    if isinstance(space, TupleSpace):
        return (
            isinstance(observation, tuple | list)
            and len(observation) == len(space.spaces)
            and all(map(_fits, observation, space.spaces))
        )
    if isinstance(space, Box):
        try:
            return np.asarray(observation, dtype=space.dtype).shape == space.shape
        except (TypeError, ValueError):
            return False
    return space.contains(observation)


def _described(observation: Any) -> str:
    if isinstance(observation, np.ndarray):
        return f"an array of shape {observation.shape} and type {observation.dtype}"
    return f"{type(observation).__name__} {observation!r}"
