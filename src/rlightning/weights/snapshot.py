"""One published state of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class WeightsSnapshot:
    """Weights and statistics as they were when they were published.

    The tensors live on the CPU and share no memory with the module they came from, so they may
    be sent, kept and applied while training goes on. Nobody writes into them.

    Attributes:
        version: Counts published weights.
        state: Parameters and buffers by name.
    """

    version: int
    state: Mapping[str, Tensor]
