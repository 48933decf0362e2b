"""Which workers let the call whose turn it is wait for longer than their limit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Limited(Protocol):
    """A worker whose calls may take only so long."""

    @property
    def limit_seconds(self) -> float | None:
        """Longest time that one call may take; None for no limit."""
        ...

    def run_in_turn(self) -> Hashable | None:
        """Return what it should be running: sent, not answered, and with all its arguments."""
        ...


Worker = TypeVar("Worker", bound=Limited)


@dataclass(slots=True)
class _Turn:
    run: Hashable
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Overdue(Generic[Worker]):
    """A worker that is over its limit.

    Attributes:
        worker: Which.
        run: What it should have answered.
        seconds: How long that has been its turn, at least.
    """

    worker: Worker
    run: Hashable
    seconds: float


class TurnClock(Generic[Worker]):
    """Counts how long each worker has had its present turn, from look to look.

    Never early: a turn is counted from the first look that finds it, and a gap between two looks
    counts as `max_gap_seconds` at most, because whoever could not look, such as a process that
    was suspended, could not see answers either.

    Args:
        max_gap_seconds: Longest time between two looks that is believed.
    """

    def __init__(self, max_gap_seconds: float) -> None:
        self._max_gap_seconds = max_gap_seconds
        self._last_look: float | None = None
        self._turns: dict[Worker, _Turn] = {}

    def look(self, workers: Iterable[Worker], now: float) -> list[Overdue[Worker]]:
        """Return the workers that are over their limit now."""
        gap = 0.0 if self._last_look is None else now - self._last_look
        counted = min(gap, self._max_gap_seconds)
        self._last_look = now
        turns = {}
        for worker in workers:
            run = worker.run_in_turn()
            if run is not None:
                turns[worker] = self._turn(worker, run, counted)
        self._turns = turns
        return [
            Overdue(worker, turn.run, turn.seconds)
            for worker, turn in turns.items()
            if worker.limit_seconds is not None and turn.seconds > worker.limit_seconds
        ]

    def _turn(self, worker: Worker, run: Hashable, counted: float) -> _Turn:
        former = self._turns.get(worker)
        if former is None or former.run is not run:
            return _Turn(run)
        former.seconds += counted
        return former
