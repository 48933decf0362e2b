"""Whatever dies whenever: no worker is restarted too often or too soon."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlightning.engine.restart_budget import RestartBudget
from rlightning.testing.manual_clock import ManualClock

DEATHS = st.lists(
    st.tuples(st.sampled_from(["env-0", "env-1", "eval-0"]), st.floats(0.0, 100.0)), max_size=60
)


@given(DEATHS, st.integers(0, 6), st.floats(0.0, 50.0))
def test_restarts_stay_within_the_number_and_keep_their_distance(
    deaths: list[tuple[str, float]], max_restarts: int, backoff_seconds: float
) -> None:
    clock = ManualClock()
    budget = RestartBudget(max_restarts, backoff_seconds, clock)
    restarted_at: dict[str, list[float]] = {}
    for worker_id, passed_seconds in deaths:
        clock.advance(passed_seconds)
        decision = budget.decide(worker_id)
        own = restarted_at.setdefault(worker_id, [])
        assert decision.is_spent == (len(own) >= max_restarts)
        if decision.may_restart_now:
            budget.spend(worker_id)
            own.append(clock())
    for own in restarted_at.values():
        assert len(own) <= max_restarts
        for number, (earlier, later) in enumerate(zip(own, own[1:], strict=False)):
            assert later - earlier >= backoff_seconds * 2**number * (1 - 1e-9) - 1e-9


@given(st.integers(1, 40), st.floats(0.0, 50.0))
def test_who_waits_as_long_as_told_may_restart_until_the_budget_is_spent(
    max_restarts: int, backoff_seconds: float
) -> None:
    clock = ManualClock()
    budget = RestartBudget(max_restarts, backoff_seconds, clock)
    for _ in range(max_restarts):
        decision = budget.decide("env-0")
        assert not decision.is_spent
        clock.advance(decision.wait_seconds * (1 + 1e-6) + 1e-6)
        assert budget.decide("env-0").may_restart_now
        budget.spend("env-0")
    assert budget.decide("env-0").is_spent
