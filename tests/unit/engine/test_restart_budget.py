from __future__ import annotations

import pytest

from rlightning.engine.restart_budget import RestartBudget, RestartDecision
from rlightning.testing.manual_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_the_first_restart_comes_at_once(clock) -> None:
    assert RestartBudget(3, 10.0, clock).decide("env-0").may_restart_now


def test_each_further_one_keeps_twice_the_distance(clock) -> None:
    budget = RestartBudget(4, 10.0, clock)
    for distance_seconds in (10.0, 20.0, 40.0):
        budget.spend("env-0")
        assert budget.decide("env-0") == RestartDecision(False, distance_seconds)
        clock.advance(distance_seconds - 1.0)
        assert budget.decide("env-0") == RestartDecision(False, 1.0)
        clock.advance(1.0)
        assert budget.decide("env-0").may_restart_now


def test_a_spent_budget_stays_spent(clock) -> None:
    budget = RestartBudget(1, 0.0, clock)
    budget.spend("env-0")
    clock.advance(1e9)
    assert budget.decide("env-0") == RestartDecision(is_spent=True)
    assert not budget.decide("env-0").may_restart_now
    assert budget.num_spent("env-0") == 1


def test_each_worker_has_a_budget_of_its_own(clock) -> None:
    budget = RestartBudget(1, 10.0, clock)
    budget.spend("env-0")
    assert budget.decide("env-1").may_restart_now
    assert budget.num_spent("env-1") == 0


def test_a_budget_of_nothing_allows_nothing(clock) -> None:
    assert RestartBudget(0, 1.0, clock).decide("env-0").is_spent
