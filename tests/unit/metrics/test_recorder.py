from __future__ import annotations

import pytest

from rlightning.errors import MetricsError
from rlightning.metrics.recorder import Recorder
from rlightning.metrics.sink import Sink
from rlightning.testing.iteration_reports import create_iteration_report


class ListSink(Sink):
    """Keeps what it is given; raises in one of its methods if asked to."""

    def __init__(self, name: str = "list", fails_in: str = "") -> None:
        self.name = name
        self.fails_in = fails_in
        self.calls: list[str] = []
        self.rows: list[dict] = []

    def start(self):
        self._called("start")

    def record(self, report, row):
        self._called("record")
        self.rows.append(row)

    def close(self):
        self._called("close")

    def _called(self, verb):
        self.calls.append(verb)
        if verb == self.fails_in:
            raise OSError("no space left")


def test_every_sink_gets_every_report_between_start_and_close():
    sinks = [ListSink(), ListSink()]
    with Recorder(sinks) as recorder:
        recorder.record(create_iteration_report(1))
        recorder.record(create_iteration_report(2))

    assert [sink.calls for sink in sinks] == [["start", "record", "record", "close"]] * 2
    assert [row["iteration"] for row in sinks[0].rows] == [1, 2]


def test_the_mean_return_is_taken_over_the_iterations():
    with Recorder([]) as recorder:
        recorder.record(create_iteration_report(1))
        row = recorder.record(create_iteration_report(2, episodes=()))

    assert row["episode_return_mean"] == 12.0
    assert row["num_episodes"] == 0


@pytest.mark.parametrize("verb", ["start", "record", "close"])
def test_a_sink_that_fails_ends_the_run_and_is_named(verb):
    healthy, broken = ListSink("healthy"), ListSink("broken", fails_in=verb)

    def run():
        with Recorder([broken, healthy]) as recorder:
            recorder.record(create_iteration_report())

    with pytest.raises(MetricsError, match=f"'broken' to {verb}, got .*no space left"):
        run()
    assert healthy.calls[-1] == "close"
    assert broken.calls[-1] == "close"


def test_an_error_of_the_run_is_not_hidden_by_one_of_closing():
    with pytest.raises(ZeroDivisionError) as caught, Recorder([ListSink(fails_in="close")]):
        raise ZeroDivisionError
    assert "closing the metrics failed too" in caught.value.__notes__[0]


def test_a_restored_recorder_goes_on_with_the_same_mean():
    first, second = Recorder([]), Recorder([])
    first.record(create_iteration_report(1))
    second.restore(first.state())

    following = create_iteration_report(2)
    assert second.record(following) == first.record(following)
