"""Publishing weights: versions are made here and nowhere else."""

from __future__ import annotations

from types import MappingProxyType

from torch import Tensor, nn

from rlightning.errors import WeightsError
from rlightning.weights.snapshot import WeightsSnapshot


class Publisher:
    """Makes snapshots whose versions only grow, by one each time.

    Not thread-safe: the one who trains publishes.

    Args:
        next_version: Version of the first snapshot: 0 for a new run, one more than the last
            published version for a run that goes on.

    Raises:
        WeightsError: If `next_version` is negative.
    """

    def __init__(self, next_version: int = 0) -> None:
        if next_version < 0:
            raise WeightsError(
                f"expected a version of at least 0, got {next_version}; count on from the last one"
            )
        self._next_version = next_version

    @property
    def next_version(self) -> int:
        """Version that the next snapshot will have."""
        return self._next_version

    def publish(self, module: nn.Module) -> WeightsSnapshot:
        """Return a copy of the module's parameters and buffers under a new version."""
        state = {name: _copied_to_cpu(tensor) for name, tensor in module.state_dict().items()}
        snapshot = WeightsSnapshot(self._next_version, MappingProxyType(state))
        self._next_version += 1
        return snapshot


def _copied_to_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)
