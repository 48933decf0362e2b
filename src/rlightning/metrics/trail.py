"""The whole course of one number in little room."""

from __future__ import annotations

from itertools import pairwise

_LEVELS = "▁▂▃▄▅▆▇█"


class Trail:
    """Keeps between `size` and twice `size` means of equal stretches of all values so far.

    Takes O(size) memory and O(1) time a value, averaged.
    """

    def __init__(self, size: int = 40) -> None:
        self._size = size
        self._means: list[float] = []
        self._stretch = 1
        self._pending: list[float] = []

    def add(self, value: float) -> None:
        """Take in the next value."""
        self._pending.append(value)
        if len(self._pending) < self._stretch:
            return
        self._means.append(_mean(self._pending))
        self._pending = []
        if len(self._means) == 2 * self._size:
            pairs = zip(self._means[::2], self._means[1::2], strict=True)
            self._means = [_mean(pair) for pair in pairs]
            self._stretch *= 2

    def values(self) -> tuple[float, ...]:
        """Return the means, oldest first; the last one may be of a shorter stretch."""
        newest = [_mean(self._pending)] if self._pending else []
        return (*self._means, *newest)


def sparkline(values: tuple[float, ...], width: int) -> str:
    """Return the values as one line of at most `width` blocks, lowest to highest."""
    if not values:
        return ""
    num_blocks = min(width, len(values))
    edges = [len(values) * block // num_blocks for block in range(num_blocks + 1)]
    means = [_mean(values[a:b]) for a, b in pairwise(edges)]
    low, high = min(means), max(means)
    span = (high - low) or 1.0
    return "".join(_LEVELS[int((mean - low) / span * (len(_LEVELS) - 1))] for mean in means)


def _mean(values: list[float] | tuple[float, ...]) -> float:
    return sum(values) / len(values)
