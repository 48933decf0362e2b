"""From features to a distribution over the actions of a space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from torch import Tensor, nn

from rlightning.errors import SpaceError
from rlightning.policy.distributions import (
    Categorical,
    DiagonalGaussian,
    Distribution,
    MultiCategorical,
)
from rlightning.policy.networks import orthogonal

_GAIN = 0.01
"""Nearly equal probabilities at the start. Source: Huang et al. 2022, detail 2."""


class ActionHead(nn.Module, ABC):
    """The last layer of the actor."""

    def __init__(self, num_features: int, num_outputs: int) -> None:
        super().__init__()
        self.linear = orthogonal(nn.Linear(num_features, num_outputs), _GAIN)

    @abstractmethod
    def forward(self, features: Tensor) -> Distribution:
        """Return one distribution per row of features of shape (B, F)."""


class DiscreteHead(ActionHead):
    """One choice. Actions of shape (B,)."""

    def __init__(self, num_features: int, space: Discrete) -> None:
        super().__init__(num_features, int(space.n))

    def forward(self, features: Tensor) -> Distribution:
        """Return one distribution per row of features of shape (B, F)."""
        return Categorical(self.linear(features))


class MultiDiscreteHead(ActionHead):
    """`K` choices. Actions of shape (B, K)."""

    def __init__(self, num_features: int, space: MultiDiscrete) -> None:
        sizes = [int(size) for size in space.nvec]
        super().__init__(num_features, sum(sizes))
        self._sizes = sizes

    def forward(self, features: Tensor) -> Distribution:
        """Return one distribution per row of features of shape (B, F)."""
        return MultiCategorical(self.linear(features), self._sizes)


class GaussianHead(ActionHead):
    """`D` real numbers; the standard deviations are parameters, the same for all states.

    Source: Schulman et al. 2017, section 6.1. Actions of shape (B, D).
    """

    def __init__(self, num_features: int, space: Box, initial_log_std: float) -> None:
        num_dimensions = math.prod(space.shape)
        super().__init__(num_features, num_dimensions)
        self.log_std = nn.Parameter(torch.full((num_dimensions,), initial_log_std))

    def forward(self, features: Tensor) -> Distribution:
        """Return one distribution per row of features of shape (B, F)."""
        return DiagonalGaussian(self.linear(features), self.log_std)


def create_action_head(num_features: int, space: Space[Any], initial_log_std: float) -> ActionHead:
    """Return the head for an adapted action space.

    Raises:
        SpaceError: If the space is no `Discrete`, flat `MultiDiscrete` or flat `Box`.
    """
    if isinstance(space, Discrete):
        return DiscreteHead(num_features, space)
    if isinstance(space, MultiDiscrete) and len(space.shape) == 1:
        return MultiDiscreteHead(num_features, space)
    if isinstance(space, Box) and len(space.shape) == 1:
        return GaussianHead(num_features, space, initial_log_std)
    raise SpaceError(
        f"no distribution for action space {space}; supported are Discrete, and MultiDiscrete "
        "and Box of one axis. Adapt the environment's space first"
    )
