"""Progress as plain lines, for logs and pipes."""

from __future__ import annotations

from rich.console import Console

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.pace import Pace
from rlightning.metrics.readable_numbers import readable_count, readable_duration, readable_value
from rlightning.metrics.shown_returns import environments_in, readable_return
from rlightning.metrics.sink import Sink


class ConsoleLines(Sink):
    """Prints aligned lines, every number with its unit.

    The first iteration, the last, and those with an evaluation are always printed.

    Args:
        console: Where to print.
        total_env_steps: Steps at which the run is complete.
        seconds_between_lines: Least time of the run between two other lines.
    """

    name = "console lines"

    def __init__(
        self, console: Console, total_env_steps: int, seconds_between_lines: float = 0.0
    ) -> None:
        self._console = console
        self._total_env_steps = total_env_steps
        self._seconds_between_lines = seconds_between_lines
        self._last_seconds: float | None = None
        self._pace = Pace(total_env_steps)
        self._total = readable_count(total_env_steps)

    def record(self, report: IterationReport, row: Row) -> None:
        """Print the line of the iteration, if it is time for one."""
        self._pace.add(report.seconds, report.env_steps)
        if not self._is_due(report):
            return
        self._last_seconds = report.seconds
        self._console.print(self._line(report, row), markup=False, highlight=False, soft_wrap=True)

    def _is_due(self, report: IterationReport) -> bool:
        if self._last_seconds is None or report.evaluation:
            return True
        is_last = report.env_steps >= self._total_env_steps
        return is_last or report.seconds - self._last_seconds >= self._seconds_between_lines

    def _line(self, report: IterationReport, row: Row) -> str:
        steps = readable_count(report.env_steps).rjust(len(self._total))
        left = readable_duration(self._pace.seconds_left())
        returns = "  ".join(readable_return(row, name) for name in environments_in(row))
        parts = [
            f"iteration {report.iteration:>5}",
            f"{self._pace.share_done():>4.0%} {steps}/{self._total} steps",
            f"{left:>8} left",
            f"return {returns}",
            f"length {readable_value(row.get('episode_length_mean')):>6} steps",
            f"{readable_count(report.steps_per_second):>7} steps/s",
            phase_shares(report),
        ]
        if report.evaluation:
            results = report.evaluation.items()
            parts.append("evaluation " + " ".join(f"{k} {readable_value(v)}" for k, v in results))
        return " | ".join(part for part in parts if part)


def phase_shares(report: IterationReport) -> str:
    """Return the share of time of each phase, such as ``inference 41%  update 59%``."""
    total = sum(report.time_shares.values())
    if total <= 0:
        return ""
    shares = report.time_shares.items()
    return "  ".join(f"{phase} {seconds / total:>3.0%}" for phase, seconds in shares)
