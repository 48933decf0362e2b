"""Workers that show how weights travel: how often they are packed, and where they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from rlightning.weights.snapshot import WeightsSnapshot

MAPS = Path("/proc/self/maps")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in shared memory something lies.

    Attributes:
        file: Whose memory it is; empty for memory of the process alone.
        inode: Of the file.
        offset: Bytes from the file's start.
    """

    file: str
    inode: str
    offset: int


def place_of(address: int) -> Place:
    """Return which mapping of this process an address belongs to."""
    for line in MAPS.read_text().splitlines():
        addresses, _, offset, device, inode, *file = line.split()
        start, end = (int(number, 16) for number in addresses.split("-"))
        if start <= address < end:
            name = file[0] if file else ""
            return Place(name, f"{device}/{inode}", int(offset, 16) + address - start)
    raise LookupError(f"expected a mapping that holds {address:#x}, got none")


class CountedSnapshot(WeightsSnapshot):
    """Counts how often its process packs any of its kind."""

    num_packed = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Count, and go as any snapshot does."""
        CountedSnapshot.num_packed += 1
        return super().__reduce__()


class WeightsMaker:
    """A learner that publishes weights of a few MB, all equal to their version.

    Args:
        num_floats: How many.
    """

    def __init__(self, num_floats: int) -> None:
        self._num_floats = num_floats
        self._version = -1

    def publish(self, kind: str) -> WeightsSnapshot:
        """Return the next version, from 0."""
        self._version += 1
        weights = torch.full((self._num_floats,), float(self._version))
        return CountedSnapshot(self._version, MappingProxyType({"weights": weights}))

    def num_packed(self) -> int:
        """Return how often a snapshot was packed in this process."""
        return CountedSnapshot.num_packed


class WeightsProbe:
    """A replica that keeps what it was given, and says where it lies."""

    def __init__(self) -> None:
        self._snapshot: WeightsSnapshot | None = None

    def set_weights(self, snapshot: WeightsSnapshot) -> int:
        """Keep the weights; return their version."""
        self._snapshot = snapshot
        return snapshot.version

    def place(self) -> Place:
        """Return where the weights lie."""
        return place_of(self._weights().data_ptr())

    def extremes(self) -> tuple[float, float]:
        """Return the smallest and the largest weight."""
        weights = self._weights()
        return float(weights.min()), float(weights.max())

    def _weights(self) -> torch.Tensor:
        if self._snapshot is None:
            raise LookupError("expected weights, got none yet; publish first")
        return self._snapshot.state["weights"]
