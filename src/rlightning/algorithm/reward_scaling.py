"""Rewards divided by the running standard deviation of the discounted return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from rlightning.algorithm.returns import DoubleArray, running_returns
from rlightning.policy.normalization import RunningMoments
from rlightning.types import Array, Fragment


class RewardScaling:
    """Keeps the statistics up to date and scales rewards by them; the mean is not shifted.

    Every sub-environment has a discounted return of its own, which starts at 0 with each
    episode. The statistics belong to the policy and travel with its weights.

    Source: Engstrom et al. 2020, algorithm 1.

    Args:
        moments: Statistics of the discounted return; updated in place.
        discount: Weight of the past, per step.
        clip: Largest absolute scaled reward.
    """

    def __init__(self, moments: RunningMoments, discount: float, clip: float) -> None:
        self._moments = moments
        self._discount = discount
        self._clip = clip
        self._running: dict[str, DoubleArray] = {}

    def scaled(self, fragments: Sequence[Fragment]) -> list[Array]:
        """Add the fragments to the statistics, then return their scaled rewards.

        Returns:
            One array per fragment. Shape: (T, B), float64.
        """
        returns = [self._valid_returns(fragment) for fragment in fragments]
        device = self._moments.mean.device
        self._moments.update(torch.from_numpy(np.concatenate(returns)).to(device))
        deviation = float(self._moments.standard_deviation())
        return [
            np.clip(fragment.reward / np.float64(deviation), -self._clip, self._clip)
            for fragment in fragments
        ]

    def start_new_episodes(self) -> None:
        """Let the discounted return of every sub-environment start at 0."""
        self._running.clear()

    def state_dict(self) -> dict[str, Tensor]:
        """Return the unfinished discounted returns by environment worker. Shape of each: (B,)."""
        return {env_id: torch.tensor(array) for env_id, array in self._running.items()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state that `state_dict` returned."""
        self._running = {env_id: tensor.numpy().copy() for env_id, tensor in state.items()}

    def _valid_returns(self, fragment: Fragment) -> DoubleArray:
        start = self._running.get(fragment.env_id, np.zeros(fragment.num_envs))
        running, self._running[fragment.env_id] = running_returns(
            fragment.reward,
            np.logical_or(fragment.terminated, fragment.truncated),
            fragment.valid,
            self._discount,
            start,
        )
        return running[fragment.valid]
