"""How fast a run goes and how long it still takes."""

from __future__ import annotations

from collections import deque

WINDOW_ITERATIONS = 50


class Pace:
    """Estimates the time left from the last iterations.

    Args:
        total_env_steps: Steps at which the run is complete.
    """

    def __init__(self, total_env_steps: int) -> None:
        self._total_env_steps = total_env_steps
        self._points: deque[tuple[float, int]] = deque(maxlen=WINDOW_ITERATIONS)

    def add(self, seconds: float, env_steps: int) -> None:
        """Take in where the run stands."""
        self._points.append((seconds, env_steps))

    def share_done(self) -> float:
        """Return the share of the run that is done, from 0 to 1."""
        if not self._points or self._total_env_steps <= 0:
            return 0.0
        return min(1.0, self._points[-1][1] / self._total_env_steps)

    def seconds_left(self) -> float | None:
        """Return the seconds until the end at the pace of late, or None if it is not known yet."""
        if not self._points:
            return None
        first_seconds, first_steps = self._points[0] if len(self._points) > 1 else (0.0, 0)
        last_seconds, last_steps = self._points[-1]
        if last_steps <= first_steps:
            return None
        seconds_per_step = (last_seconds - first_seconds) / (last_steps - first_steps)
        return max(0.0, (self._total_env_steps - last_steps) * seconds_per_step)
