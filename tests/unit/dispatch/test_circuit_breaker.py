"""A broken worker rests, is probed, and comes back."""

from __future__ import annotations

from rlightning.dispatch.circuit_breaker import BreakerLimits, CircuitBreaker

LIMITS = BreakerLimits(failure_threshold=3, probe_interval_seconds=5.0)


def test_a_worker_rests_only_after_as_many_failures_in_a_row_as_the_threshold() -> None:
    breaker = CircuitBreaker(LIMITS)
    assert not breaker.record_failure("eval-0", now=0.0)
    assert not breaker.record_failure("eval-0", now=0.0)
    assert breaker.record_failure("eval-0", now=0.0)
    assert breaker.resting() == ["eval-0"]


def test_a_success_between_failures_starts_the_count_anew() -> None:
    breaker = CircuitBreaker(LIMITS)
    for _ in range(10):
        breaker.record_failure("eval-0", now=0.0)
        breaker.record_failure("eval-0", now=0.0)
        breaker.record_success("eval-0")
    assert breaker.resting() == []
    assert not breaker.is_watching


def test_a_rested_worker_is_due_once_per_rest() -> None:
    breaker = CircuitBreaker(BreakerLimits(failure_threshold=1, probe_interval_seconds=5.0))
    breaker.record_failure("eval-0", now=10.0)
    assert breaker.take_due(now=14.9) == []
    assert breaker.take_due(now=15.0) == ["eval-0"]
    assert breaker.take_due(now=15.0) == []


def test_every_failed_probe_doubles_the_rest_up_to_sixteen_times() -> None:
    breaker = CircuitBreaker(BreakerLimits(failure_threshold=1, probe_interval_seconds=1.0))
    rests, now = [], 0.0
    for _ in range(7):
        breaker.record_failure("eval-0", now)
        rest = 0.0
        while not breaker.take_due(now + rest):
            rest += 1.0
        rests.append(rest)
        now += rest
    assert rests == [1.0, 2.0, 4.0, 8.0, 16.0, 16.0, 16.0]


def test_workers_are_judged_apart() -> None:
    breaker = CircuitBreaker(BreakerLimits(failure_threshold=2, probe_interval_seconds=5.0))
    breaker.record_failure("eval-0", now=0.0)
    breaker.record_failure("eval-1", now=0.0)
    assert breaker.resting() == []
    breaker.record_failure("eval-1", now=0.0)
    assert breaker.resting() == ["eval-1"]
    breaker.record_success("eval-1")
    assert breaker.resting() == []
    assert breaker.is_watching
