"""Sub-environments stepped one after the other, which say what shape a wrong observation has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlightning.errors import ShapeError

AnyEnv: TypeAlias = gymnasium.Env[Any, Any]


class RememberedObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Remembers what a sub-environment showed last, which costs next to nothing.

    Attributes:
        shown: The newest observation; None before the first.
    """

    shown: Any = None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        result = self.env.reset(**kwargs)
        self.shown = result[0]
        return result

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step once."""
        result = self.env.step(action)
        self.shown = result[0]
        return result


class CheckedSyncEnv(SyncVectorEnv):
    """Steps sub-environments in turn; they reset on demand, and batches are not copied.

    Where observations cannot be put into one batch, it says which part has which shape.

    Args:
        envs: The sub-environments.
    """

    def __init__(self, envs: Sequence[AnyEnv]) -> None:
        self._remembered = [RememberedObservation(env) for env in envs]
        super().__init__(
            [partial(_same, env) for env in self._remembered],
            copy=False,  # the worker copies every batch into its fragment
            autoreset_mode=AutoresetMode.DISABLED,
        )

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start episodes.

        Raises:
            ShapeError: If a sub-environment shows another shape than its space has.
        """
        try:
            return super().reset(**kwargs)
        except ValueError as error:
            self._refuse_wrong_shapes(error)
            raise

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all.

        Raises:
            ShapeError: If a sub-environment shows another shape than its space has.
        """
        try:
            return super().step(actions)
        except ValueError as error:
            self._refuse_wrong_shapes(error)
            raise

    def _refuse_wrong_shapes(self, error: ValueError) -> None:
        for index, env in enumerate(self._remembered):
            fault = None if env.shown is None else wrong_shape(env.observation_space, env.shown)
            if fault is not None:
                raise ShapeError(
                    f"{fault} in sub-environment {index}; correct what the environment returns, "
                    "or its observation_space"
                ) from error


def wrong_shape(space: Space[Any], observation: Any, where: str = "") -> str | None:
    """Return what is wrong with an observation's shape, or None.

    Args:
        space: What the environment promises.
        observation: What it shows.
        where: Keys that lead to this part, for the message.
    """
    part = f" at {where.removeprefix('.')!r}" if where else ""
    if isinstance(space, Dict | Tuple):
        parts = space.spaces.items() if isinstance(space, Dict) else enumerate(space.spaces)
        faults = (wrong_shape(child, observation[key], f"{where}.{key}") for key, child in parts)
        return next((fault for fault in faults if fault), None)
    if not isinstance(space, Box | MultiBinary | MultiDiscrete):
        return None
    got = _shape_of(observation)
    if got == space.shape:
        return None
    return f"expected an observation of shape {space.shape}{part}, got {got or 'a single number'}"


def _shape_of(observation: Any) -> object:
    try:
        return np.shape(observation)
    except ValueError:
        return "rows of several lengths"


def _same(env: AnyEnv) -> AnyEnv:
    return env
