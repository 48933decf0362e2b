"""What a policy must fit: the spaces of an environment after adaption."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

AdaptedActionSpace: TypeAlias = Discrete | MultiDiscrete | Box


@dataclass(frozen=True, eq=False)
class SpaceKind:
    """Spaces as the policy sees them; environments of one kind can share a policy.

    Two kinds are equal if their names are: shapes, types and bounds, to the last bit.

    Attributes:
        observation_space: One observation; float32, or uint8 for images.
        action_space: One action: `Discrete` from 0 with int64, flat `MultiDiscrete` from 0 with
            int64, or flat `Box` of float32.
    """

    observation_space: Box
    action_space: AdaptedActionSpace

    @property
    def name(self) -> str:
        """Text such as ``box_4-discrete_2-5f3a9c01``, the same in every process.

        The last part is a checksum of types and bounds; the name can stand in a file name.
        """
        observation, action = self.observation_space, self.action_space
        checksum = zlib.crc32(_bounds(observation) + _bounds(action))
        return f"{_short_name(observation)}-{_short_name(action)}-{checksum:08x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpaceKind) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _short_name(space: AdaptedActionSpace) -> str:
    if isinstance(space, Discrete):
        return f"discrete_{space.n}"
    if isinstance(space, MultiDiscrete):
        return "multidiscrete_" + "x".join(str(size) for size in space.nvec)
    return "box_" + "x".join(str(size) for size in space.shape)


def _bounds(space: AdaptedActionSpace) -> bytes:
    dtype = str(space.dtype).encode()
    if isinstance(space, Box):
        return dtype + np.ascontiguousarray(space.low).tobytes() + space.high.tobytes()
    return dtype
