from __future__ import annotations

from collections.abc import Hashable

from rlightning.runtime.ray.overdue import TurnClock


class Worker:
    def __init__(self, limit_seconds: float | None = 10.0) -> None:
        self.limit_seconds = limit_seconds
        self.run: Hashable | None = "first"

    def run_in_turn(self) -> Hashable | None:
        return self.run


def turn_clock(max_gap_seconds: float = 5.0) -> TurnClock[Worker]:
    return TurnClock(max_gap_seconds)


def overdue_at(clock: TurnClock[Worker], worker: Worker, *times: float) -> list[float]:
    """Look at these times; return those at which the worker was over its limit."""
    return [now for now in times if clock.look([worker], now)]


def test_a_run_is_overdue_once_its_turn_is_longer_than_the_limit() -> None:
    clock, worker = turn_clock(), Worker()
    assert overdue_at(clock, worker, 100.0, 105.0, 110.0) == []
    (found,) = clock.look([worker], 110.1)
    assert (found.worker, found.run) == (worker, "first")
    assert found.seconds > 10.0


def test_the_turn_begins_with_the_look_that_finds_it_so_that_nobody_is_early() -> None:
    clock, worker = turn_clock(), Worker()
    worker.run = None
    assert overdue_at(clock, worker, 0.0, 4.0, 8.0, 12.0) == []
    worker.run = "late"
    assert overdue_at(clock, worker, 16.0, 20.0, 24.0, 26.0) == []
    assert overdue_at(clock, worker, 26.5) == [26.5]


def test_every_answer_gives_the_next_run_the_whole_limit() -> None:
    clock, worker = turn_clock(), Worker()
    for number in range(100):
        worker.run = f"run {number}"
        assert overdue_at(clock, worker, 9.0 * number, 9.0 * number + 4.5) == []


def test_a_run_that_waits_for_an_argument_again_begins_anew() -> None:
    clock, worker = turn_clock(), Worker()
    assert overdue_at(clock, worker, 0.0, 5.0, 9.0) == []
    worker.run = None
    assert overdue_at(clock, worker, 11.0) == []
    worker.run = "first"
    assert overdue_at(clock, worker, 12.0, 17.0, 22.0) == []
    assert overdue_at(clock, worker, 22.1) == [22.1]


def test_time_in_which_nobody_could_look_is_held_against_no_one() -> None:
    clock, worker = turn_clock(max_gap_seconds=2.0), Worker()
    assert overdue_at(clock, worker, 0.0, 1.0) == []
    assert overdue_at(clock, worker, 1_000.0) == [], "the process may have been suspended"
    assert overdue_at(clock, worker, 1_001.0, 1_003.0, 1_005.0) == []
    assert overdue_at(clock, worker, 1_007.0, 1_007.5) == [1_007.5]


def test_a_worker_without_a_limit_is_never_overdue() -> None:
    assert overdue_at(turn_clock(), Worker(None), *range(0, 1000, 4)) == []


def test_each_worker_has_its_own_limit_and_turn() -> None:
    clock = turn_clock()
    quick, patient = Worker(3.0), Worker(30.0)
    clock.look([quick, patient], 0.0)
    assert [found.worker for found in clock.look([quick, patient], 4.0)] == [quick]
    clock.look([patient], 8.0)
    assert clock.look([quick, patient], 9.0) == [], "the quick one was away in between"
