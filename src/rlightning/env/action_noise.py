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
    generator: np.random.Generator, action_space: AdaptedActionSpace, num_envs: int
) -> FloatArray:
    """Draw the noise of one action for each sub-environment.

    Returns:
        Standard normals for a `Box`, uniforms from [0, 1) for the others; float32.
        Shape: (num_envs, noise_size).
    """
    shape = (num_envs, noise_size(action_space))
    if isinstance(action_space, Box):
        return generator.standard_normal(shape, dtype=np.float32)
    return generator.random(shape, dtype=np.float32)
