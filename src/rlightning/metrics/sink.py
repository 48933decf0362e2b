"""The interface of whatever metrics are written to."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rlightning.metrics.iteration_report import IterationReport, Row


class Sink(ABC):
    """A destination of metrics. The recorder calls `start` once, `record` often, `close` once.

    All calls come from one thread, except that `close` may come from a watchdog's.
    """

    name: str = "sink"
    """Named in the error if this sink fails."""

    def start(self) -> None:
        """Make ready; called before the first `record`."""
        return

    @abstractmethod
    def record(self, report: IterationReport, row: Row) -> None:
        """Write one iteration.

        Args:
            report: The whole report.
            row: The same as flat, JSON-safe names and numbers, returns taken over the window.
        """

    def close(self) -> None:
        """Write out what is left and free resources; also called after a failure, or twice."""
        return
