"""Writes each iteration to where metrics go."""

from __future__ import annotations

from rlightning.engine.hooks import Hook
from rlightning.metrics.iteration_report import IterationReport
from rlightning.metrics.recorder import Recorder


class RecordingHook(Hook):
    """Gives each report to the recorder.

    Attributes:
        score: What decides which checkpoint is best: the return of an evaluation in the latest
            iteration, else the mean return of recent episodes; None before the first.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.score: float | None = None

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Record the report."""
        row = self._recorder.record(report)
        evaluated = (report.evaluation or {}).get("return_mean")
        self.score = row.get("episode_return_mean") if evaluated is None else evaluated
        return report
