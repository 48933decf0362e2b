"""Which workers rest after failing, and when each is tried again."""

from __future__ import annotations

import threading
from dataclasses import dataclass

LONGEST_REST_FACTOR = 16


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When a worker rests and how long.

    Attributes:
        failure_threshold: Failures in a row after which a worker rests.
        probe_interval_seconds: Rest before the first probe; doubles with every failed probe, up
            to 16 times as long.
    """

    failure_threshold: int = 3
    probe_interval_seconds: float = 5.0


@dataclass(slots=True)
class _Record:
    failures_in_a_row: int = 0
    failed_probes: int = 0
    rests_until: float | None = None


class CircuitBreaker:
    """Remembers failures of workers, so that a broken one is not chosen again each time.

    Decides only; the caller takes a resting worker out of its router and back in. Time is given
    by the caller. Thread-safe; all calls O(number of failed workers).
    """

    def __init__(self, limits: BreakerLimits | None = None) -> None:
        self._limits = limits or BreakerLimits()
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}

    @property
    def is_watching(self) -> bool:
        """Whether any worker has failed since its last success; one cheap look."""
        return bool(self._records)

    def record_success(self, worker_id: str) -> None:
        """Forget the failures of a worker; also for one that left or was born anew."""
        with self._lock:
            self._records.pop(worker_id, None)

    def record_failure(self, worker_id: str, now: float) -> bool:
        """Count a failure and return whether the worker has to rest from now on."""
        with self._lock:
            record = self._records.setdefault(worker_id, _Record())
            record.failures_in_a_row += 1
            if record.failures_in_a_row < self._limits.failure_threshold:
                return False
            factor = min(2**record.failed_probes, LONGEST_REST_FACTOR)
            record.rests_until = now + factor * self._limits.probe_interval_seconds
            record.failed_probes += 1
            return True

    def take_due(self, now: float) -> list[str]:
        """Return the workers whose rest is over, each once: the next task to them is a probe."""
        with self._lock:
            due = [
                worker_id
                for worker_id, record in self._records.items()
                if record.rests_until is not None and record.rests_until <= now
            ]
            for worker_id in due:
                self._records[worker_id].rests_until = None
            return due

    def resting(self) -> list[str]:
        """Return the workers that rest now."""
        with self._lock:
            records = self._records.items()
            return [name for name, record in records if record.rests_until is not None]
