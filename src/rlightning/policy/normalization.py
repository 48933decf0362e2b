"""Running statistics that travel with the weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_EPSILON = 1e-8


class RunningMoments(nn.Module):
    """Mean and variance of everything seen so far, merged batch by batch.

    The statistics are buffers in float64, so they are published, saved and restored together
    with the weights. Merging is that of Chan, Golub and LeVeque 1979, equation 2.1.

    Args:
        shape: Shape of one element.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__()
        self.mean: Tensor
        self.variance: Tensor
        self.count: Tensor
        self.register_buffer("mean", torch.zeros(tuple(shape), dtype=torch.float64))
        self.register_buffer("variance", torch.ones(tuple(shape), dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    @torch.no_grad()
    def update(self, batch: Tensor) -> None:
        """Add the rows of a batch. Shape: (N, *shape); no rows, no change.

        The variance is that of the whole population; before the first row it is 1.
        """
        num_rows = batch.shape[0]
        if num_rows == 0:
            return
        batch = batch.to(torch.float64)
        batch_variance, batch_mean = torch.var_mean(batch, dim=0, correction=0)
        total = self.count + num_rows
        distance = batch_mean - self.mean
        squares = self.variance * self.count + batch_variance * num_rows
        squares += distance.square() * (self.count * num_rows / total)
        self.mean += distance * (num_rows / total)
        self.variance.copy_(squares / total)
        self.count.copy_(total)

    def standard_deviation(self) -> Tensor:
        """Return the square root of the variance, kept off zero. Shape: (*shape), float64."""
        return torch.sqrt(self.variance + _EPSILON)


class RunningNormalizer(nn.Module):
    """Shift and scale observations to mean 0 and standard deviation 1, clipped.

    The statistics stay as they are inside `forward`; only `update` changes them. Before the
    first update observations pass unchanged, but for the clip.

    Args:
        shape: Shape of one observation.
        clip: Largest absolute result, in standard deviations.
    """

    def __init__(self, shape: Sequence[int], clip: float) -> None:
        super().__init__()
        self._clip = clip
        self.moments = RunningMoments(shape)
        self.shift: Tensor
        self.scale: Tensor
        self.register_buffer("shift", torch.zeros(tuple(shape)))
        self.register_buffer("scale", torch.ones(tuple(shape)))

    def forward(self, observation: Tensor) -> Tensor:
        """Return the normalised observation in float32. Shape: (B, *shape), as given."""
        return ((observation - self.shift) * self.scale).clamp(-self._clip, self._clip)

    @torch.no_grad()
    def update(self, batch: Tensor) -> None:
        """Add rows to the statistics. Shape: (N, *shape)."""
        self.moments.update(batch)
        self.shift.copy_(self.moments.mean)
        self.scale.copy_(1.0 / self.moments.standard_deviation())
