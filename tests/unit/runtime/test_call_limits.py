from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator

import pytest

from rlightning.runtime.ray.call_limits import CallLimits, Endable, end_if_silent, longest_wait
from rlightning.runtime.ray.overdue import Overdue

DEADLINE_SECONDS = 30.0


class Silent:
    """A worker that never answers, or only when somebody asks what it does."""

    def __init__(self, limit_seconds: float | None = 0.1, *, wakes_up: bool = False) -> None:
        self.worker_id = "env-0"
        self.limit_seconds = limit_seconds
        self.reasons: list[str] = []
        self.is_ended = threading.Event()
        self._wakes_up = wakes_up
        self._run: Hashable | None = "step()"

    def run_in_turn(self) -> Hashable | None:
        return self._run

    def is_alive(self) -> bool:
        return not self.is_ended.is_set()

    def activity(self) -> str:
        if self._wakes_up:
            self._run = None
        return "nothing (GetTimeoutError)"

    def seconds_since_a_sign(self) -> float:
        return 0.25

    def kill(self, reason: str) -> None:
        self.reasons.append(reason)
        self.is_ended.set()


@pytest.fixture
def limits() -> Iterator[CallLimits]:
    before = set(threading.enumerate())
    limits = CallLimits()
    yield limits
    limits.stop()
    for thread in set(threading.enumerate()) - before:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()


def test_a_silent_worker_is_ended_once_with_what_is_known_of_it(limits: CallLimits) -> None:
    worker = Silent()
    limits.keep(worker)
    assert worker.is_ended.wait(DEADLINE_SECONDS)
    (reason,) = worker.reasons
    assert reason == (
        "did not answer step() within 0.1 s, frozen or hung; last sign of life 0.2 s ago; "
        "asked now, it says: nothing (GetTimeoutError)"
    )


def test_one_who_lets_the_question_wait_does_not_hold_up_the_end_of_another(
    limits: CallLimits,
) -> None:
    may_answer = threading.Event()

    class Stubborn(Silent):
        def activity(self) -> str:
            may_answer.wait(DEADLINE_SECONDS)
            return super().activity()

    stubborn, other = Stubborn(), Silent()
    limits.keep(stubborn)
    limits.keep(other)
    assert other.is_ended.wait(DEADLINE_SECONDS)
    assert stubborn.is_alive()
    may_answer.set()
    assert stubborn.is_ended.wait(DEADLINE_SECONDS)
    assert len(stubborn.reasons) == 1


def test_one_who_answers_while_he_is_asked_lives_on() -> None:
    worker = Silent(wakes_up=True)
    overdue: Overdue[Endable] = Overdue(worker, worker.run_in_turn(), 0.2)
    end_if_silent(overdue)
    assert worker.is_alive()


def test_one_who_is_idle_has_answered_and_is_given_its_limit_once_more() -> None:
    class Idle(Silent):
        def activity(self) -> str:
            return "idle"

    worker = Idle(limit_seconds=1.0)
    end_if_silent(Overdue(worker, worker.run_in_turn(), 1.9))
    assert worker.is_alive()
    end_if_silent(Overdue(worker, worker.run_in_turn(), 2.1))
    assert not worker.is_alive(), "the call may never have come to it"


def test_nobody_looks_at_workers_without_a_limit(limits: CallLimits) -> None:
    num_threads = threading.active_count()
    limits.keep(Silent(limit_seconds=None))
    assert threading.active_count() == num_threads


def test_a_wait_allows_for_two_calls_at_their_limit_and_for_the_end_of_one_who_hangs() -> None:
    assert longest_wait(60.0) == 130.0
    assert longest_wait(None) is None
