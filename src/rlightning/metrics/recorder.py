"""Hands each iteration's report to every sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from rlightning.errors import MetricsError
from rlightning.metrics.episode_summary import EpisodeWindow
from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.sink import Sink


class Recorder:
    """Fans reports out to sinks. A sink that fails ends the run, with an error that names it.

    As a context manager it starts the sinks and closes them, whatever happens between.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)
        self._window = EpisodeWindow()

    def start(self) -> None:
        """Start every sink; if one fails, close them all.

        Raises:
            MetricsError: If a sink cannot start.
        """
        try:
            for sink in self._sinks:
                _guarded(sink, "start", sink.start)
        except MetricsError:
            self.close()
            raise

    def record(self, report: IterationReport) -> Row:
        """Give the report to every sink, in order, and return it as a row.

        Raises:
            MetricsError: If a sink fails.
        """
        self._window.add(report.episodes, report.environments)
        row = report.as_row(self._window.summary())
        for sink in self._sinks:
            _guarded(sink, "record", partial(sink.record, report, row))
        return row

    def close(self) -> None:
        """Close every sink, also if one fails.

        Raises:
            MetricsError: The first failure.
        """
        failures: list[MetricsError] = []
        for sink in self._sinks:
            try:
                _guarded(sink, "close", sink.close)
            except MetricsError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def state(self) -> dict[str, list[tuple[str, float, int, bool]]]:
        """Return the window of last episodes as plain values, for a checkpoint."""
        return self._window.state()

    def restore(self, state: Mapping[str, Iterable[tuple[str, float, int, bool]]]) -> None:
        """Go on from what `state` returned, so that a resumed run's means do not jump."""
        self._window.restore(state)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except MetricsError as close_error:
            if error is None:
                raise
            error.add_note(f"closing the metrics failed too: {close_error}")


def _guarded(sink: Sink, verb: str, action: Callable[[], None]) -> None:
    try:
        action()
    except Exception as error:
        raise MetricsError(
            f"expected metrics sink {sink.name!r} to {verb}, got {type(error).__name__}: {error}; "
            "mend the cause, or switch this output off under 'logging', then resume the run"
        ) from error
