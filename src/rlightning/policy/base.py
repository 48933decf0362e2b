"""What every policy answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rlightning.env.space_kind import SpaceKind
from rlightning.policy.normalization import RunningMoments


class ActionOutput(NamedTuple):
    """Actions for a batch of observations.

    Attributes:
        action: As drawn, not clipped. Shape: (B, *action_shape).
        log_prob: Of exactly these actions. Shape: (B,).
        value: Estimated return. Shape: (B,).
    """

    action: Tensor
    log_prob: Tensor
    value: Tensor


class ActionEvaluation(NamedTuple):
    """Given actions under the present weights; gradients flow through all three.

    Attributes:
        log_prob: Shape: (B,).
        entropy: Of the distribution, in nats. Shape: (B,).
        value: Estimated return. Shape: (B,).
    """

    log_prob: Tensor
    entropy: Tensor
    value: Tensor


class Policy(nn.Module, ABC):
    """A network and a distribution over actions.

    All methods take observations as the environment workers show them; normalisation, where
    it is on, happens inside. A row's answer depends on no other row.

    Args:
        kind: Spaces that the policy serves.

    Attributes:
        kind: The same.
        reward_moments: Statistics of the discounted return, for algorithms that scale rewards.
    """

    def __init__(self, kind: SpaceKind) -> None:
        super().__init__()
        self.kind = kind
        self.reward_moments = RunningMoments(())

    @property
    def device(self) -> torch.device:
        """Where observations must be."""
        return self.reward_moments.mean.device

    @abstractmethod
    def act(self, observation: Tensor, noise: Tensor, deterministic: bool = False) -> ActionOutput:
        """Choose actions.

        Args:
            observation: Shape: (B, *observation_shape).
            noise: Random numbers that select the actions. Shape: (B, noise_size).
            deterministic: Take the most likely action and leave the noise aside.
        """

    @abstractmethod
    def evaluate_actions(self, observation: Tensor, action: Tensor) -> ActionEvaluation:
        """Judge given actions.

        Args:
            observation: Shape: (B, *observation_shape).
            action: Unclipped. Shape: (B, *action_shape).
        """

    @abstractmethod
    def value(self, observation: Tensor) -> Tensor:
        """Return the estimated return from observations. Shape: (B,)."""

    def update_statistics(self, observation: Tensor) -> None:
        """Take valid observations into running statistics; without any, do nothing.

        Args:
            observation: Shape: (N, *observation_shape).
        """
