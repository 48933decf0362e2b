"""Time as a value that can be injected, so that deadlines are tested without sleeping."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A source of monotonic seconds."""

    def __call__(self) -> float:
        """Return seconds that never go backwards."""
        ...


monotonic_clock: Clock = time.monotonic
"""The clock of production."""
