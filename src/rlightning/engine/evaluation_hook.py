"""Evaluates the policy every so many iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.hooks import Hook
from rlightning.metrics.iteration_report import IterationReport


class EvaluationHook(Hook):
    """Adds the result of an evaluation to the report of its iteration.

    Args:
        interval: Iterations between two evaluations; 0 for none.
        evaluate: Plays the episodes with the present weights.
    """

    def __init__(self, interval: int, evaluate: Callable[[], EvaluationResult]) -> None:
        self._interval = interval
        self._evaluate = evaluate

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Evaluate if the interval is over."""
        if not self._interval or report.iteration % self._interval:
            return report
        result = self._evaluate()
        return replace(
            report,
            evaluation={
                "return_mean": result.mean_return,
                "return_std": result.std_return,
                "length_mean": result.mean_length,
                "repeats": result.num_repeats,
            },
        )
