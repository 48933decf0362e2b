"""Writes checkpoints while a run goes on, and one at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.hooks import Hook
from rlightning.metrics.iteration_report import IterationReport


class CheckpointHook(Hook):
    """Saves every so many iterations, and after the last one.

    Args:
        store: Where to.
        interval: Iterations between two checkpoints.
        capture: Returns the whole state of the run.
        score: Returns what decides which checkpoint is best.
    """

    def __init__(
        self,
        store: CheckpointStore,
        interval: int,
        capture: Callable[[], Mapping[str, Any]],
        score: Callable[[], float | None],
    ) -> None:
        self._store = store
        self._interval = interval
        self._capture = capture
        self._score = score
        self._iteration = 0
        self._saved_iteration: int | None = None

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Save if the interval is over."""
        self._iteration = report.iteration
        if report.iteration % self._interval == 0:
            self._save()
        return report

    def run_ended(self) -> None:
        """Save the last iteration, if it is not saved yet."""
        if self._iteration and self._saved_iteration != self._iteration:
            self._save()

    def _save(self) -> None:
        self._store.save(self._capture(), self._iteration, self._score())
        self._saved_iteration = self._iteration
