"""What the gradient steps of one update measured, read once per epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from rlightning.algorithm.finite_checks import not_finite
from rlightning.algorithm.losses import approximate_kl, clip_fraction


@dataclass(frozen=True, slots=True)
class StepMeasures:
    """Scalars of one gradient step, in the order in which they are computed."""

    policy_loss: Tensor
    value_loss: Tensor
    entropy: Tensor
    gradient: Tensor


_QUANTITIES = tuple(field.name for field in fields(StepMeasures))


class StepLog:
    """Collects tensors without reading them, so that no gradient step waits for a number.

    Args:
        clip_range: Of the surrogate, for the share of clipped ratios.
    """

    def __init__(self, clip_range: float) -> None:
        self._clip_range = clip_range
        self._measures: list[Tensor] = []
        self._log_ratios: list[Tensor] = []
        self._epochs: list[list[float]] = []

    def add(self, measures: StepMeasures, log_ratio: Tensor) -> None:
        """Take the measures of one gradient step and its log-ratios of shape (M,)."""
        self._measures += [getattr(measures, name).detach() for name in _QUANTITIES]
        self._log_ratios.append(log_ratio.detach())

    def close_epoch(self) -> float:
        """Read the epoch's measures and return its mean approximate divergence in nats.

        Raises:
            NotFiniteError: Names the first quantity that became NaN or infinite, and where.
        """
        steps = torch.stack(self._measures).reshape(-1, len(_QUANTITIES))
        log_ratio = torch.cat(self._log_ratios)
        ratios = [approximate_kl(log_ratio), clip_fraction(log_ratio, self._clip_range)]
        means = torch.cat([steps.mean(dim=0), torch.stack(ratios)]).tolist()
        if not all(math.isfinite(mean) for mean in means[: len(_QUANTITIES)]):
            self._raise_first(steps)
        self._measures, self._log_ratios = [], []
        self._epochs.append(means)
        return float(means[-2])

    def metrics(self) -> dict[str, float]:
        """Return the means over all epochs."""
        names = ("policy_loss", "value_loss", "entropy", "gradient_norm", "kl", "clip_fraction")
        columns = zip(*self._epochs, strict=True)
        return {
            name: sum(column) / len(self._epochs)
            for name, column in zip(names, columns, strict=True)
        }

    def _raise_first(self, steps: Tensor) -> None:
        step, column = torch.isfinite(steps).logical_not().nonzero()[0].tolist()
        epoch = len(self._epochs) + 1
        raise not_finite(_QUANTITIES[column], f"at minibatch {step + 1} of epoch {epoch}")
