"""A clock that moves only when a test says so."""

from __future__ import annotations

from rlightning.errors import RLightningError


class ManualClock:
    """Seconds that stand still until `advance`; thread-safe.

    Args:
        now_seconds: Where it begins.
    """

    def __init__(self, now_seconds: float = 0.0) -> None:
        self.now_seconds = now_seconds

    def __call__(self) -> float:
        """Return the present seconds."""
        return self.now_seconds

    def advance(self, seconds: float) -> None:
        """Move on.

        Raises:
            RLightningError: If `seconds` is negative: clocks never go backwards.
        """
        if seconds < 0:
            raise RLightningError(f"expected seconds of at least 0, got {seconds!r}")
        self.now_seconds += seconds
