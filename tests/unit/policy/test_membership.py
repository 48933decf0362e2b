from __future__ import annotations

from collections.abc import Sequence

import pytest

from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import NoEvalPolicyError, WorkerDiedError
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.membership import PoolMembership, Router
from rlightning.policy.utils.router import SimpleRouter, SyncRouter, SyncSimpleRouter
from rlightning.testing.manual_clock import ManualClock
from rlightning.testing.recorded_worker import RecordedWorker

LIMITS = BreakerLimits(failure_threshold=3, probe_interval_seconds=5.0)
HICCUP = RuntimeError("hiccup")


class FirstRouter(SyncRouter):
    """A router of one's own: always the first, and its policies never change."""

    def __init__(self, policies: Sequence[EvalPolicy]) -> None:
        self._policies = tuple(policies)

    def select_policy(self, env_id: str | None = None) -> EvalPolicy:
        return self._policies[0]


ROUTERS = {
    "sync": SyncSimpleRouter,
    "async": lambda policies: SimpleRouter(),
    "own": FirstRouter,
}


class Bench:
    def __init__(self, create_router, num_members: int = 2) -> None:
        self.submitter = TaskSubmitter(8)
        self.clock = ManualClock()
        self.num_changes = 0
        self.num_built = 0
        self._create_router = create_router
        self.members = [self.member(f"eval-{i}") for i in range(num_members)]
        self.membership = PoolMembership(
            self.members, self._built, LIMITS, self.clock, self._count_change
        )

    def _built(self, policies: Sequence[EvalPolicy]) -> Router:
        self.num_built += 1
        return self._create_router(policies)

    def _count_change(self) -> None:
        self.num_changes += 1

    def member(self, replica_id: str, incarnation: int = 1) -> EvalPolicy:
        return EvalPolicy(RecordedWorker(replica_id, incarnation), self.submitter)

    def fail(self, member: EvalPolicy, times: int = 3) -> None:
        for _ in range(times):
            self.membership.record_failure(member, HICCUP)

    def routable(self) -> list[str]:
        policies, router, _ = self.membership.for_routing()
        if isinstance(router, SyncRouter) and not isinstance(router, FirstRouter):
            selected = {router.select_policy().replica_id for _ in policies}
            assert selected == {policy.replica_id for policy in policies}
        return [policy.replica_id for policy in policies]


@pytest.fixture(params=ROUTERS)
def bench(request) -> Bench:
    return Bench(ROUTERS[request.param])


def test_all_members_are_routable_at_first(bench) -> None:
    assert bench.routable() == ["eval-0", "eval-1"]
    assert bench.membership.routable() == tuple(bench.members)
    assert bench.membership.members() == bench.members


def test_one_who_joins_is_last_and_one_who_leaves_is_gone(bench) -> None:
    third = bench.member("eval-2")
    bench.membership.add(third)
    assert bench.routable() == ["eval-0", "eval-1", "eval-2"]
    bench.membership.remove(bench.members[0])
    assert bench.routable() == ["eval-1", "eval-2"]
    assert bench.num_changes == 2


def test_to_remove_a_stranger_or_twice_changes_nothing(bench) -> None:
    bench.membership.remove(bench.member("eval-1", 2))
    bench.membership.remove(bench.members[0])
    bench.membership.remove(bench.members[0])
    assert bench.routable() == ["eval-1"]
    assert bench.num_changes == 1


def test_routers_of_ours_are_kept_and_others_are_built_anew() -> None:
    for name, num_built in (("sync", 1), ("async", 2), ("own", 2)):
        bench = Bench(ROUTERS[name])
        bench.membership.add(bench.member("eval-2"))
        assert bench.num_built == num_built, name


def test_a_member_rests_after_failures_in_a_row_and_is_probed_later(bench) -> None:
    bench.fail(bench.members[0], 2)
    assert bench.routable() == ["eval-0", "eval-1"]
    bench.fail(bench.members[0], 1)
    assert bench.routable() == ["eval-1"]
    assert bench.membership.members() == bench.members, "it lives, so it gets new weights"
    bench.clock.advance(4.9)
    assert bench.routable() == ["eval-1"]
    bench.clock.advance(0.2)
    assert bench.routable() == ["eval-1", "eval-0"]


def test_a_failed_probe_means_a_longer_rest(bench) -> None:
    bench.fail(bench.members[0])
    bench.clock.advance(5.0)
    assert len(bench.routable()) == 2
    bench.fail(bench.members[0], 1)
    assert bench.routable() == ["eval-1"]
    bench.clock.advance(9.9)
    assert bench.routable() == ["eval-1"]
    bench.clock.advance(0.1)
    assert len(bench.routable()) == 2


def test_an_answer_between_failures_starts_the_count_anew(bench) -> None:
    for _ in range(5):
        bench.fail(bench.members[0], 2)
        bench.membership.record_success(bench.members[0])
    assert bench.routable() == ["eval-0", "eval-1"]


def test_a_late_answer_of_a_resting_member_does_not_lose_it_for_ever(bench) -> None:
    bench.fail(bench.members[0])
    bench.membership.record_success(bench.members[0])
    assert bench.routable() == ["eval-1"]
    bench.clock.advance(5.0)
    assert len(bench.routable()) == 2


def test_late_failures_of_a_resting_member_do_not_prolong_its_rest(bench) -> None:
    bench.fail(bench.members[0], 10)
    bench.clock.advance(5.0)
    assert len(bench.routable()) == 2


def test_a_dead_member_leaves_at_once(bench) -> None:
    death = WorkerDiedError("eval-0 died", worker_id="eval-0")
    bench.membership.record_failure(bench.members[0], death)
    assert bench.routable() == ["eval-1"]
    assert bench.membership.members() == [bench.members[1]]


def test_those_known_to_be_dead_are_taken_out(bench) -> None:
    bench.members[1].handle.kill()
    bench.membership.remove_dead()
    assert bench.routable() == ["eval-0"]


def test_a_reborn_member_takes_its_id_and_starts_without_failures(bench) -> None:
    bench.fail(bench.members[0])
    reborn = bench.member("eval-0", 2)
    bench.membership.add(reborn)
    assert bench.membership.routable() == (bench.members[1], reborn)
    bench.fail(reborn, 2)
    assert len(bench.routable()) == 2


def test_late_news_of_a_former_incarnation_changes_nothing(bench) -> None:
    reborn = bench.member("eval-0", 2)
    bench.membership.add(reborn)
    former = bench.members[0]
    bench.fail(former, 5)
    bench.membership.record_failure(former, WorkerDiedError("died", worker_id="eval-0"))
    bench.fail(reborn, 2)
    bench.membership.record_success(former)
    bench.fail(reborn, 1)
    assert bench.routable() == ["eval-1"], "the answer of the former one ended no row"


def test_with_nobody_left_the_error_tells_who_rests_and_why(bench) -> None:
    for member in bench.members:
        bench.fail(member)
    with pytest.raises(
        NoEvalPolicyError, match="2 alive, resting.*eval-0, eval-1.*hiccup"
    ) as raised:
        bench.membership.for_routing()
    assert raised.value.__cause__ is HICCUP
    bench.clock.advance(5.0)
    assert bench.routable() == ["eval-0", "eval-1"], "they come back to an empty pool"


def test_decisions_are_counted_over_all_routers() -> None:
    for name in ("sync", "async"):
        bench = Bench(ROUTERS[name])
        for _ in range(3):
            router = bench.membership.for_routing().router
            if isinstance(router, SyncRouter):
                router.select_policy()
            else:
                router.assign([0, 0], 1)
            bench.membership.add(bench.member(f"eval-{bench.num_changes + 2}"))
        counts = bench.membership.router_counts()
        assert counts.pop("balanced") == 3
        assert set(counts.values()) == {0}, "reasons that never decided are there too"


def test_who_is_available_is_told_to_routers_that_wait(bench) -> None:
    bench.membership.released("eval-0")
    assert bench.routable() == ["eval-0", "eval-1"]
