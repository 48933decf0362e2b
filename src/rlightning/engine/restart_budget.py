"""Whether a worker that died may be restarted, and when."""

from __future__ import annotations

from dataclasses import dataclass

from rlightning.clock import Clock, monotonic_clock

MAX_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class RestartDecision:
    """What may be done about one dead worker.

    Attributes:
        is_spent: It may never be restarted again.
        wait_seconds: Until it may be restarted; 0 for now.
    """

    is_spent: bool
    wait_seconds: float = 0.0

    @property
    def may_restart_now(self) -> bool:
        """Whether it may be restarted at once."""
        return not self.is_spent and self.wait_seconds <= 0.0


class RestartBudget:
    """Counts the restarts of each worker, tried ones too.

    The first may come at once. Each further one has to keep a distance from the one before:
    `backoff_seconds`, then twice that, and so on. It decides and does nothing: whoever restarts
    says so with `spend`.

    Args:
        max_restarts: Of each worker.
        backoff_seconds: Between the first and the second restart.
        clock: Seconds.
    """

    def __init__(
        self, max_restarts: int, backoff_seconds: float, clock: Clock = monotonic_clock
    ) -> None:
        self.max_restarts = max_restarts
        self._backoff_seconds = backoff_seconds
        self._clock = clock
        self._spent_at: dict[str, list[float]] = {}

    def decide(self, worker_id: str) -> RestartDecision:
        """Return whether the worker may be restarted now, later or never again."""
        spent_at = self._spent_at.get(worker_id, [])
        if len(spent_at) >= self.max_restarts:
            return RestartDecision(is_spent=True)
        if not spent_at:
            return RestartDecision(is_spent=False)
        num_doublings = min(len(spent_at) - 1, MAX_DOUBLINGS)
        distance_seconds = self._backoff_seconds * 2.0**num_doublings
        passed_seconds = self._clock() - spent_at[-1]
        return RestartDecision(
            is_spent=False, wait_seconds=max(0.0, distance_seconds - passed_seconds)
        )

    def spend(self, worker_id: str) -> None:
        """Count one restart, now."""
        self._spent_at.setdefault(worker_id, []).append(self._clock())

    def num_spent(self, worker_id: str) -> int:
        """Return how many restarts of the worker were counted."""
        return len(self._spent_at.get(worker_id, []))
