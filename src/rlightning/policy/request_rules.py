"""What a request to a policy must look like."""

from __future__ import annotations

import numpy as np

from rlightning.env.action_noise import noise_size
from rlightning.env.finite import is_finite
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import NotFiniteError, RLightningError, ShapeError
from rlightning.types import ObservationBatch


class RequestRules:
    """Says whether a request can be answered by a policy of one kind.

    Args:
        kind: Spaces of the policy.
    """

    def __init__(self, kind: SpaceKind) -> None:
        self._row_shape = kind.observation_space.shape
        self._dtype = kind.observation_space.dtype
        self._noise_size = noise_size(kind.action_space)

    def fault_of(self, request: ObservationBatch) -> RLightningError | None:
        """Return what is wrong with a request, None if nothing is."""
        observation, noise = request.observation, request.noise
        shape, dtype = observation.shape, observation.dtype
        if shape[1:] != self._row_shape or dtype != self._dtype or shape[0] == 0:
            return ShapeError(
                f"expected at least one observation of shape {self._row_shape} and type "
                f"{self._dtype}, got a batch of {shape} and {dtype} from {request.env_id}; "
                "send it to a policy of its own kind"
            )
        if noise.shape != (len(observation), self._noise_size) or noise.dtype != np.float32:
            return ShapeError(
                f"expected noise of shape {(len(observation), self._noise_size)} and type float32, "
                f"got {noise.shape} and {noise.dtype} from {request.env_id}; "
                "draw it with rlightning.env.action_noise"
            )
        if not is_finite(observation):
            return NotFiniteError(
                f"expected finite observations, got NaN or infinity from {request.env_id}; "
                "repair the environment"
            )
        return None
