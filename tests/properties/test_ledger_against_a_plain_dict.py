"""The ledger against a plain model: a dict from worker to incarnation and set of leases."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from rlightning.dispatch.ledger import Lease, Ledger, Outcome

WORKERS = ("env-0", "eval-0", "eval-1")
worker_ids = st.sampled_from(WORKERS)
incarnations = st.integers(1, 4)
outcomes = st.sampled_from(Outcome)


class LedgerAgainstADict(RuleBasedStateMachine):
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.incarnation = dict.fromkeys(WORKERS, 0)
        self.held: dict[str, set[Lease]] = {worker_id: set() for worker_id in WORKERS}
        self.ended: Counter[str] = Counter()
        self.releases: Counter[str] = Counter()
        self.expected_releases: Counter[str] = Counter()
        self.ledger.on_release(lambda worker_id: self.releases.update([worker_id]))

    def _end_all(self, worker_id: str) -> int:
        num_ended = len(self.held[worker_id])
        self.ended["died"] += num_ended
        self.expected_releases[worker_id] += num_ended > 0
        self.held[worker_id].clear()
        return num_ended

    def _note(self, worker_id: str, incarnation: int, lease: Lease) -> None:
        if incarnation > self.incarnation[worker_id]:
            self._end_all(worker_id)
            self.incarnation[worker_id] = incarnation
        if incarnation == self.incarnation[worker_id]:
            self.held[worker_id].add(lease)

    @rule(target=leases, worker_id=worker_ids, incarnation=incarnations)
    def take(self, worker_id: str, incarnation: int) -> Lease:
        lease = self.ledger.take(worker_id, incarnation, "act")
        self._note(worker_id, incarnation, lease)
        return lease

    @rule(worker_id=worker_ids, incarnation=incarnations, limit=st.integers(1, 3))
    def try_take(self, worker_id: str, incarnation: int, limit: int) -> None:
        is_full = incarnation == self.incarnation[worker_id] and len(self.held[worker_id]) >= limit
        lease = self.ledger.try_take(worker_id, incarnation, "act", limit)
        assert (lease is None) == is_full
        if lease is not None:
            self._note(worker_id, incarnation, lease)

    @rule(lease=leases, outcome=outcomes)
    def give_back(self, lease: Lease, outcome: Outcome) -> None:
        is_held = lease in self.held[lease.worker_id]
        assert lease.give_back(outcome) == is_held
        if is_held:
            self.held[lease.worker_id].remove(lease)
            self.ended[outcome.name.lower()] += 1
            self.expected_releases[lease.worker_id] += 1

    @rule(worker_id=worker_ids, incarnation=incarnations)
    def die(self, worker_id: str, incarnation: int) -> None:
        is_present = incarnation == self.incarnation[worker_id]
        expected = self._end_all(worker_id) if is_present else 0
        assert self.ledger.free_all(worker_id, incarnation) == expected

    @invariant()
    def loads_outcomes_and_releases_agree(self) -> None:
        assert self.ledger.loads(WORKERS) == [len(self.held[worker_id]) for worker_id in WORKERS]
        assert self.ledger.outcome_counts() == {
            outcome.name.lower(): self.ended[outcome.name.lower()] for outcome in Outcome
        }
        assert self.releases == self.expected_releases


TestLedgerAgainstADict = LedgerAgainstADict.TestCase
TestLedgerAgainstADict.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


@pytest.fixture
def _hasty_threads() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_hasty_threads")
def test_each_lease_is_given_back_once_whoever_is_first() -> None:
    ledger = Ledger()
    num_threads, num_leases = 4, 300
    given_back = [0] * num_threads
    leases = [ledger.take(WORKERS[number % 3], 1) for number in range(num_leases)]
    start = threading.Barrier(num_threads)

    def give_all_back(position: int) -> None:
        start.wait()
        given_back[position] = sum(lease.give_back(Outcome(position)) for lease in leases)

    threads = [threading.Thread(target=give_all_back, args=(i,)) for i in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(given_back) == num_leases
    assert list(ledger.outcome_counts().values()) == given_back
    assert ledger.loads(WORKERS) == [0, 0, 0]


@pytest.mark.usefixtures("_hasty_threads")
def test_a_worker_that_is_reborn_all_the_time_never_keeps_the_leases_of_former_lives() -> None:
    ledger = Ledger()
    start = threading.Barrier(4)

    def live(seed: int) -> None:
        start.wait()
        for incarnation in range(1, 200):
            lease = ledger.take("env-0", incarnation)
            if seed % 2:
                lease.give_back(Outcome.SUCCESS)
            else:
                ledger.free_all("env-0", incarnation)

    threads = [threading.Thread(target=live, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.free_all("env-0", 199)
    assert ledger.load("env-0") == 0
