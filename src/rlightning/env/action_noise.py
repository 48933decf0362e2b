"""Random numbers that turn an action distribution into an action.

The environment worker draws them from its own generator and sends them with its observations.
So the actions of an environment depend neither on which replica answers nor on who else asks.
"""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete

from rlightning.env.space_kind import AdaptedActionSpace
from rlightning.types import FloatArray


def noise_size(action_space: AdaptedActionSpace) -> int:
    """Return how many numbers one action takes: 1 if discrete, else one for each component."""
    if isinstance(action_space, MultiDiscrete):
        return int(action_space.nvec.size)
    if isinstance(action_space, Box):
        return int(np.prod(action_space.shape))
    return 1


def draw_noise(
    generator: np.random.Generator, action_space: AdaptedActionSpace, shape: tuple[int, ...]
) -> FloatArray:
    """Draw the noise of many actions.

    Args:
        generator: Where the numbers come from.
        action_space: What the actions are of.
        shape: Of the actions, such as (B,) or (T, B).

    Returns:
        Standard normals for a `Box`, uniforms from [0, 1) for the others; float32.
        Shape: (*shape, noise_size).
    """
    noise_shape = (*shape, noise_size(action_space))
    if isinstance(action_space, Box):
        return generator.standard_normal(noise_shape, dtype=np.float32)
    return generator.random(noise_shape, dtype=np.float32)
