"""Losses of policy-gradient methods: tensors in, tensors out, nothing else.

All arguments have shape (M,), one entry per step of a minibatch.
"""

from __future__ import annotations

import torch
from torch import Tensor


def normalized(advantage: Tensor) -> Tensor:
    """Return the advantages with mean 0 and standard deviation 1; a single one becomes 0.

    Source: Huang et al. 2022, detail 7.
    """
    if advantage.shape[0] == 1:
        return torch.zeros_like(advantage)
    deviation, mean = torch.std_mean(advantage)
    return (advantage - mean) / (deviation + 1e-8)


def clipped_surrogate(log_ratio: Tensor, advantage: Tensor, clip_range: float) -> Tensor:
    """Return the policy loss, the negative mean of the clipped surrogate objective.

    The objective ``min(ratio * A, clip(ratio) * A)`` is ``min(ratio * A, A + clip_range * |A|)``,
    which has no gradient in its second part.

    Source: Schulman et al. 2017, equation 7; Achiam 2018, "Simplified PPO-Clip Objective".

    Args:
        log_ratio: Log-probability of the action now, minus that when it was drawn.
        advantage: Of the action.
        clip_range: How far the ratio may leave 1.
    """
    bound = torch.add(advantage, advantage.abs(), alpha=clip_range)
    return -torch.minimum(advantage * log_ratio.exp(), bound).mean()


def squared_value_error(value: Tensor, target: Tensor) -> Tensor:
    """Return the mean squared error of the values.

    Source: Schulman et al. 2017, equation 9.
    """
    return torch.nn.functional.mse_loss(value, target)


def clipped_value_error(
    value: Tensor, target: Tensor, old_value: Tensor, clip_range: float
) -> Tensor:
    """Return the mean of the larger of two squared errors: of the value, and of it clipped.

    Source: Huang et al. 2022, detail 9.

    Args:
        value: Estimated now.
        target: What it should be.
        old_value: Estimated when the step was made.
        clip_range: How far the clipped value may leave the old one.
    """
    clipped = old_value + (value - old_value).clamp(-clip_range, clip_range)
    return torch.maximum((value - target).square(), (clipped - target).square()).mean()


def approximate_kl(log_ratio: Tensor) -> Tensor:
    """Return an estimate of the divergence of the new policy from the old one, in nats.

    It is the mean of ``(ratio - 1) - log(ratio)``: unbiased, never negative, of low variance.
    Source: Schulman 2020, "Approximating KL Divergence", estimator k3.
    """
    return (torch.expm1(log_ratio) - log_ratio).mean()


def clip_fraction(log_ratio: Tensor, clip_range: float) -> Tensor:
    """Return the share of the steps whose ratio is farther from 1 than the clip range."""
    return (torch.expm1(log_ratio).abs() > clip_range).to(torch.float32).mean()


def explained_variance(value: Tensor, target: Tensor) -> Tensor:
    """Return the share of the targets' variance that the values explain.

    1 is perfect, 0 is no better than a constant, less is worse. 0 if the targets do not vary.
    """
    variance = target.var(correction=0)
    unexplained = (target - value).var(correction=0)
    return torch.where(variance > 0, 1.0 - unexplained / variance, 0.0)
