"""Where the choice among equal loads begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from rlightning.errors import RoutingTypeError, RoutingValueError
from rlightning.registry import did_you_mean

LOWEST = "lowest"
ROTATING = "rotating"
TIE_BREAKS = (LOWEST, ROTATING)

Item = TypeVar("Item")

_GOLDEN_RATIO_64_BITS = 0x9E3779B97F4A7C15


def start_offset(seed: int, num_places: int) -> int:
    """Return where, in ``range(num_places)``, a router with this seed begins.

    The fractional part of seed x golden ratio, scaled to the number of places: consecutive seeds
    spread evenly over any number of places, and so do seeds in steps of 2, 10 or 1,000, which
    ``seed % num_places`` would send to the same place (Knuth, The Art of Computer Programming,
    volume 3, section 6.4, Fibonacci hashing).
    """
    fraction = (seed * _GOLDEN_RATIO_64_BITS) % 2**64
    return fraction * num_places // 2**64


def rotated_to_start(items: Sequence[Item], seed: int | None) -> list[Item]:
    """Return the items beginning at the start offset of the seed; as they are without one."""
    offset = 0 if seed is None else start_offset(seed, len(items))
    return [*items[offset:], *items[:offset]]


class TieBreak:
    """The rule for equal loads, with its state: how many tasks each pool has received.

    `lowest` always begins at the first place. `rotating` begins at the seed's start offset and
    moves on by one place per task. Not safe from many threads: the router holds its lock.
    """

    def __init__(self, tie_break: str = LOWEST, start_offset_seed: int | None = None) -> None:
        """Check the options.

        Raises:
            RoutingTypeError: If the seed is no integer.
            RoutingValueError: If the rule is unknown, or a seed comes without `rotating`.
        """
        if tie_break not in TIE_BREAKS:
            hint = did_you_mean(str(tie_break), TIE_BREAKS)
            raise RoutingValueError(
                f"expected tie_break 'lowest' or 'rotating', got {tie_break!r}{hint}; "
                "choose one of the two"
            )
        self._is_rotating = tie_break == ROTATING
        self._seed = self._checked_seed(start_offset_seed)
        self._num_assigned: dict[str | None, int] = {}

    @property
    def start_seed(self) -> int | None:
        """The seed of the start offset, or None where everything begins at the first place."""
        return self._seed if self._is_rotating else None

    def offset(self, pool: str | None, num_places: int) -> int:
        """Return the place at which a pool begins now; a pool is a node, or None for all."""
        if not self._is_rotating or not num_places:
            return 0
        num_assigned = self._num_assigned.get(pool, 0)
        return (start_offset(self._seed, num_places) + num_assigned) % num_places

    def advance(self, pool: str | None, num_tasks: int) -> None:
        """Note that a pool received tasks."""
        if self._is_rotating:
            self._num_assigned[pool] = self._num_assigned.get(pool, 0) + num_tasks

    def __repr__(self) -> str:
        """Show the options."""
        return (
            f"tie_break={ROTATING!r}, seed={self._seed}"
            if self._is_rotating
            else f"tie_break={LOWEST!r}"
        )

    def _checked_seed(self, seed: Any) -> int:
        if seed is None:
            return 0
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
            raise RoutingTypeError(
                f"expected start_offset_seed as an integer or None, got {seed!r} of type "
                f"{type(seed).__name__}; pass for example the number of the router"
            )
        if not self._is_rotating:
            raise RoutingValueError(
                f"expected no start_offset_seed with tie_break 'lowest', got {int(seed)}; "
                "set tie_break='rotating' or leave the seed out"
            )
        return int(seed)
