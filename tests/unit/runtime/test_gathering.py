"""What decides which calls to one actor go together."""

from __future__ import annotations

from rlightning.runtime.ray.gathering import (
    NUM_CALLERS_REMEMBERED,
    QUICK_SECONDS,
    RecentCallers,
    TypicalSeconds,
)


def test_nobody_is_quick_before_the_first_run() -> None:
    assert not TypicalSeconds().is_quick


def test_one_slow_run_among_quick_ones_changes_nothing() -> None:
    typical = TypicalSeconds()
    for seconds in (0.001, 0.001, 30.0, 0.001):
        typical.add(seconds)
    assert typical.is_quick
    assert typical.seconds == 0.001


def test_what_is_typical_moves_towards_the_median_from_a_slow_start() -> None:
    typical = TypicalSeconds()
    for seconds in (2.0, *[0.001] * 40):
        typical.add(seconds)
    assert typical.seconds == 0.001


def test_a_worker_whose_runs_become_long_is_quick_no_more() -> None:
    typical = TypicalSeconds()
    for seconds in (0.001, *[10 * QUICK_SECONDS] * 20):
        typical.add(seconds)
    assert not typical.is_quick


def test_a_caller_that_has_not_come_for_long_is_forgotten() -> None:
    callers = RecentCallers()
    callers.add("env-0")
    callers.add("env-1")
    assert not callers.are_one
    for _ in range(NUM_CALLERS_REMEMBERED):
        callers.add("env-1")
    assert callers.are_one
