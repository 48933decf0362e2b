"""What is known of the calls to one actor when it is decided which of them go together."""

from __future__ import annotations

from collections import deque

MAX_RUNS_UNDER_WAY = 2
"""Runs of gathered methods that an actor has at a time: one runs, the next is there already.

Whatever comes meanwhile waits at the driver, and is gathered into the run after those.
"""

QUICK_SECONDS = 0.005
"""Runs below this take about as long as sending a call."""

MEDIAN_FACTOR = 1.25
"""How far one run moves what is held for typical."""

NUM_CALLERS_REMEMBERED = 8


class TypicalSeconds:
    """About the median of how long the runs at one actor take.

    A run that took long because the machine did something else moves it no further than any.
    """

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds: float | None = None

    def add(self, seconds: float) -> None:
        """Take note of one run."""
        former = self.seconds
        if former is None:
            self.seconds = seconds
        elif seconds > former:
            self.seconds = min(seconds, former * MEDIAN_FACTOR)
        else:
            self.seconds = max(seconds, former / MEDIAN_FACTOR)

    @property
    def is_quick(self) -> bool:
        """Whether a run takes about as long as sending a call."""
        return self.seconds is not None and self.seconds < QUICK_SECONDS


class RecentCallers:
    """Who sent the newest calls to one actor."""

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: deque[str] = deque(maxlen=NUM_CALLERS_REMEMBERED)

    def add(self, name: str) -> None:
        """Take note of a call."""
        self._names.append(name)

    @property
    def are_one(self) -> bool:
        """Whether all of them were the same."""
        return len(set(self._names)) <= 1
