"""Distributions over actions, drawn from noise that the caller brings.

Whoever asks for an action sends the random numbers along, so which replica answers, and
together with whom, changes no action. Letters of shapes: `B` rows, `K` components, `D`
dimensions, `C` choices.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Distribution(ABC):
    """One distribution per row."""

    @abstractmethod
    def sample(self, noise: Tensor) -> Tensor:
        """Return the actions that the noise selects; equal noise, equal actions."""

    @abstractmethod
    def mode(self) -> Tensor:
        """Return the most likely actions."""

    @abstractmethod
    def log_prob(self, action: Tensor) -> Tensor:
        """Return the logarithm of the probability (density) of actions. Shape: (B,)."""

    @abstractmethod
    def entropy(self) -> Tensor:
        """Return the (differential) entropy in nats. Shape: (B,)."""


class Categorical(Distribution):
    """One choice of `C`; noise is uniform in [0, 1).

    Args:
        logits: Unnormalised logarithms of the probabilities. Shape: (B, C).
    """

    def __init__(self, logits: Tensor) -> None:
        self._log_probs = torch.log_softmax(logits, dim=-1)

    def sample(self, noise: Tensor) -> Tensor:
        """Invert the cumulative distribution at the noise.

        The noise is scaled by the last cumulative sum, which rounding may leave beside 1, so a
        choice without probability is never drawn.

        Args:
            noise: Shape: (B, 1).

        Returns:
            Shape: (B,), int64.
        """
        cumulative = self._log_probs.exp().cumsum(dim=-1)
        last = cumulative[:, -1:]
        choice = torch.searchsorted(cumulative, noise * last, right=True).squeeze(-1)
        return choice.clamp_(max=cumulative.shape[-1] - 1)

    def mode(self) -> Tensor:
        """Return the most likely choices, the lowest of equals. Shape: (B,), int64."""
        return self._log_probs.argmax(dim=-1)

    def log_prob(self, action: Tensor) -> Tensor:
        """Return the log-probability of choices of shape (B,). Shape: (B,)."""
        return self._log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats. Shape: (B,)."""
        return -(self._log_probs.exp() * self._log_probs).sum(dim=-1)


class MultiCategorical(Distribution):
    """`K` independent choices; one uniform number each.

    Args:
        logits: Logits of all components, one after the other. Shape: (B, sum of sizes).
        sizes: Number of choices of each component.
    """

    def __init__(self, logits: Tensor, sizes: Sequence[int]) -> None:
        self._components = [Categorical(part) for part in torch.split(logits, list(sizes), dim=-1)]

    def sample(self, noise: Tensor) -> Tensor:
        """Return the choices that the noise of shape (B, K) selects. Shape: (B, K), int64."""
        columns = torch.split(noise, 1, dim=-1)
        pairs = zip(self._components, columns, strict=True)
        return torch.stack([component.sample(column) for component, column in pairs], dim=-1)

    def mode(self) -> Tensor:
        """Return the most likely choice of each component. Shape: (B, K), int64."""
        return torch.stack([component.mode() for component in self._components], dim=-1)

    def log_prob(self, action: Tensor) -> Tensor:
        """Return the log-probability of choices of shape (B, K). Shape: (B,)."""
        pairs = zip(self._components, action.unbind(dim=-1), strict=True)
        return torch.stack([component.log_prob(choice) for component, choice in pairs]).sum(dim=0)

    def entropy(self) -> Tensor:
        """Return the sum of the components' entropies in nats. Shape: (B,)."""
        return torch.stack([component.entropy() for component in self._components]).sum(dim=0)


class DiagonalGaussian(Distribution):
    """Independent normal distributions; noise is standard normal.

    Args:
        mean: Shape: (B, D).
        log_std: Natural logarithm of the standard deviations, the same for all rows.
            Shape: (D,).
    """

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self._mean = mean
        self._log_std = log_std

    def sample(self, noise: Tensor) -> Tensor:
        """Return ``mean + std * noise``, unclipped, for noise of shape (B, D). Shape: (B, D)."""
        return torch.addcmul(self._mean, self._log_std.exp(), noise)

    def mode(self) -> Tensor:
        """Return the mean. Shape: (B, D)."""
        return self._mean

    def log_prob(self, action: Tensor) -> Tensor:
        """Return the log-density of unclipped actions of shape (B, D). Shape: (B,)."""
        deviation = (action - self._mean) * torch.exp(-self._log_std)
        constant = self._log_std.sum() + _HALF_LOG_TWO_PI * self._mean.shape[-1]
        return deviation.square().sum(dim=-1) * -0.5 - constant

    def entropy(self) -> Tensor:
        """Return the differential entropy in nats. Shape: (B,)."""
        per_dimension = self._log_std + (0.5 + _HALF_LOG_TWO_PI)
        return per_dimension.sum().expand(self._mean.shape[0])
