"""A count that many threads raise without a lock."""

from __future__ import annotations

from itertools import count
from threading import Lock


class AtomicCounter:
    """Counts exactly under threads, and costs one call per increment.

    `next` on `itertools.count` is a single step that no other thread can interrupt. Reading takes
    a tick as well, so the number of readings is subtracted.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self._ticks = count()
        self._num_readings = 0
        self._lock = Lock()
        self.increment = self._ticks.__next__

    @property
    def value(self) -> int:
        """Number of increments so far."""
        with self._lock:
            value = next(self._ticks) - self._num_readings
            self._num_readings += 1
            return value
