from __future__ import annotations

from rlightning.dispatch.ledger import Ledger, Outcome
from rlightning.testing.manual_clock import ManualClock


def test_a_lease_counts_until_it_is_given_back() -> None:
    ledger = Ledger()
    lease = ledger.take("eval-0", 1, "act")
    assert ledger.load("eval-0") == 1
    assert lease.worker_id == "eval-0"
    assert lease.give_back(Outcome.SUCCESS)
    assert ledger.load("eval-0") == 0


def test_a_second_return_changes_nothing() -> None:
    ledger = Ledger()
    lease, _ = ledger.take("eval-0", 1), ledger.take("eval-0", 1)
    assert lease.give_back(Outcome.FAILURE)
    assert not lease.give_back(Outcome.SUCCESS)
    assert ledger.load("eval-0") == 1
    assert ledger.outcome_counts() == {"success": 0, "failure": 1, "cancelled": 0, "died": 0}


def test_loads_come_in_the_order_asked_for_and_unknown_workers_have_none() -> None:
    ledger = Ledger()
    for worker_id in ("eval-1", "eval-1", "eval-0"):
        ledger.take(worker_id, 1)
    assert ledger.loads(["eval-2", "eval-1", "eval-0"]) == [0, 2, 1]


def test_no_seat_is_handed_out_beyond_the_limit() -> None:
    ledger = Ledger()
    first = ledger.try_take("eval-0", 1, "act", 2)
    assert first is not None
    assert ledger.try_take("eval-0", 1, "act", 2) is not None
    assert ledger.try_take("eval-0", 1, "act", 2) is None
    first.give_back(Outcome.SUCCESS)
    assert ledger.try_take("eval-0", 1, "act", 2) is not None


def test_a_late_return_to_a_reborn_worker_changes_nothing() -> None:
    ledger = Ledger()
    late = ledger.take("eval-0", 1)
    ledger.take("eval-0", 2)
    assert ledger.load("eval-0") == 1
    assert not late.give_back(Outcome.SUCCESS)
    assert ledger.load("eval-0") == 1
    assert ledger.outcome_counts()["died"] == 1


def test_a_seat_at_a_reborn_worker_is_free_whatever_the_former_one_held() -> None:
    ledger = Ledger()
    heard: list[str] = []
    ledger.on_release(heard.append)
    ledger.take("eval-0", 1)
    assert ledger.try_take("eval-0", 2, "act", 1) is not None
    assert heard == ["eval-0"]
    assert ledger.try_take("eval-0", 2, "act", 1) is None


def test_a_call_to_a_former_incarnation_counts_nowhere_even_at_a_full_worker() -> None:
    ledger = Ledger()
    ledger.take("eval-0", 2)
    stale = ledger.try_take("eval-0", 1, "act", 1)
    assert stale is not None
    assert ledger.load("eval-0") == 1
    assert not stale.give_back(Outcome.DIED)


def test_death_frees_all_leases_of_that_incarnation_once() -> None:
    ledger = Ledger()
    leases = [ledger.take("eval-0", 1) for _ in range(3)]
    assert ledger.free_all("eval-0", 1) == 3
    assert ledger.free_all("eval-0", 1) == 0
    assert not any(lease.give_back(Outcome.SUCCESS) for lease in leases)
    assert ledger.outcome_counts()["died"] == 3


def test_the_death_of_a_former_incarnation_leaves_the_present_one_alone() -> None:
    ledger = Ledger()
    ledger.take("eval-0", 2)
    assert ledger.free_all("eval-0", 1) == 0
    assert ledger.load("eval-0") == 1


def test_listeners_hear_of_every_release_and_of_no_refusal() -> None:
    ledger = Ledger()
    heard: list[str] = []
    ledger.on_release(heard.append)
    lease = ledger.take("eval-0", 1)
    assert heard == []
    lease.give_back(Outcome.SUCCESS)
    lease.give_back(Outcome.SUCCESS)
    assert heard == ["eval-0"]
    ledger.take("eval-1", 1)
    ledger.take("eval-1", 2)
    assert heard == ["eval-0", "eval-1"]
    ledger.free_all("eval-1", 2)
    assert heard == ["eval-0", "eval-1", "eval-1"]


def test_a_listener_may_ask_the_ledger() -> None:
    ledger = Ledger()
    seen: list[int] = []
    ledger.on_release(lambda worker_id: seen.append(ledger.load(worker_id)))
    ledger.take("eval-0", 1)
    ledger.take("eval-0", 1).give_back(Outcome.SUCCESS)
    assert seen == [1]


def test_the_report_says_who_has_what_since_when() -> None:
    clock = ManualClock()
    ledger = Ledger(clock)
    ledger.take("env-0", 1, "step")
    clock.advance(2.5)
    for _ in range(10):
        ledger.take("eval-0", 3, "act")
    ledger.take("eval-1", 1).give_back(Outcome.SUCCESS)
    report = ledger.report()
    assert "env-0#1: 1 (step since 2.5 s)" in report
    assert "eval-0#3: 10 (act since 0.0 s" in report
    assert "and 2 more" in report
    assert "eval-1" not in report
    assert "'eval-0': 10" in repr(ledger)


def test_the_report_of_an_idle_ledger_says_so() -> None:
    assert Ledger().report() == "in flight: nothing"
