from __future__ import annotations

from rlightning.metrics.pace import Pace


def test_nothing_is_known_before_the_first_iteration():
    assert Pace(100).seconds_left() is None
    assert Pace(100).share_done() == 0.0


def test_the_first_iteration_gives_a_first_estimate():
    pace = Pace(1000)
    pace.add(2.0, 100)

    assert pace.share_done() == 0.1
    assert pace.seconds_left() == 18.0


def test_the_pace_of_late_counts_not_that_of_long_ago():
    pace = Pace(10_000)
    pace.add(1000.0, 10)
    for iteration in range(1, 101):
        pace.add(1000.0 + iteration, 10 + 10 * iteration)

    # 10 steps a second of late, 8990 steps to go
    assert pace.seconds_left() == 899.0


def test_a_run_beyond_its_end_has_no_time_left():
    pace = Pace(100)
    pace.add(1.0, 120)

    assert pace.seconds_left() == 0.0
    assert pace.share_done() == 1.0


def test_a_standstill_has_no_estimate():
    pace = Pace(100)
    pace.add(1.0, 50)
    pace.add(2.0, 50)

    assert pace.seconds_left() is None
