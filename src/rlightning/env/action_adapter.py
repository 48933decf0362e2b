"""Actions of the policy as the environment takes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Space

from rlightning.env.finite import is_finite
from rlightning.env.space_kind import AdaptedActionSpace
from rlightning.errors import NotFiniteError, SpaceError
from rlightning.types import Array

SUPPORTED = "Discrete, MultiDiscrete, MultiBinary, or Box of floating-point numbers"


class ActionAdapter(ABC):
    """Turns a batch of the policy's actions into one that the vectorised environment takes.

    Attributes:
        space: The adapted space of one action, as the policy sees it.
    """

    space: AdaptedActionSpace

    @abstractmethod
    def to_env(self, action: Array) -> Array:
        """Return the batch for the environment; the given one stays as it is.

        Args:
            action: Shape: (B, *space.shape).

        Returns:
            Shape: (B, *shape of the environment's space).
        """


def create_action_adapter(space: Space[Any]) -> ActionAdapter:
    """Choose how a policy's actions become actions of a space.

    Raises:
        SpaceError: If the space is not supported.
    """
    if isinstance(space, Discrete):
        return DiscreteAction(space)
    if isinstance(space, MultiDiscrete | MultiBinary):
        return MultiDiscreteAction(space)
    if isinstance(space, Box) and np.issubdtype(space.dtype, np.floating) and space.low.size:
        return BoxAction(space)
    raise SpaceError(
        f"expected an action space of {SUPPORTED}, got {space}; "
        "put a wrapper around the environment that gives one of these"
    )


class DiscreteAction(ActionAdapter):
    """Counts from the start of the environment's space, in its integer type."""

    def __init__(self, space: Discrete) -> None:
        self.space = Discrete(int(space.n))
        self._start = int(space.start)
        self._dtype = space.dtype

    def to_env(self, action: Array) -> Array:
        """Return integers counted from the start. Shape: (B,)."""
        integers = action.astype(self._dtype, copy=False)
        return integers + self._dtype.type(self._start) if self._start else integers


class MultiDiscreteAction(ActionAdapter):
    """Several discrete actions at once; binary ones count as discrete ones of two."""

    def __init__(self, space: MultiDiscrete | MultiBinary) -> None:
        if isinstance(space, MultiBinary):
            sizes, self._start = np.full(space.shape, 2), np.zeros(space.shape, dtype=np.int64)
        else:
            sizes, self._start = space.nvec, space.start
        self.space = MultiDiscrete(sizes.reshape(-1).astype(np.int64))
        self._shape, self._dtype = sizes.shape, space.dtype

    def to_env(self, action: Array) -> Array:
        """Return integers counted from the starts, in the environment's shape."""
        shaped = action.reshape(action.shape[0], *self._shape)
        return (shaped + self._start).astype(self._dtype)


class BoxAction(ActionAdapter):
    """Clips to the bounds, for stepping only."""

    def __init__(self, space: Box) -> None:
        self._low, self._high = space.low.reshape(-1), space.high.reshape(-1)
        with np.errstate(over="ignore"):
            low, high = self._low.astype(np.float32), self._high.astype(np.float32)
        self.space = Box(low, high, dtype=np.float32)
        self._shape = space.shape

    def to_env(self, action: Array) -> Array:
        """Return clipped actions in the environment's shape and type.

        Raises:
            NotFiniteError: If an action is NaN or infinite.
        """
        if not is_finite(action):
            raise NotFiniteError(
                f"expected finite actions, got {action.tolist()}; the policy that drew them "
                "has diverged: look at its learning rate and the scale of its inputs"
            )
        clipped = np.clip(action.astype(self._low.dtype, copy=False), self._low, self._high)
        return clipped.reshape(action.shape[0], *self._shape)
