"""The requests of one round, which belong together."""

from __future__ import annotations

import threading

import pytest

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import RoutingValueError
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.utils.router import create_router
from rlightning.testing.fake_replica import shown_observation
from rlightning.testing.recorded_worker import RecordedWorker

WAIT_SECONDS = 10.0


class HoldingWorker(RecordedWorker):
    """Notes how many calls came while calls were held back, at each release."""

    can_hold_calls = True

    def __init__(self, worker_id: str) -> None:
        super().__init__(worker_id)
        self.num_held: list[int] = []
        self._held_at: int | None = None

    def hold_calls(self) -> None:
        self._held_at = len(self.calls)

    def release_calls(self) -> None:
        assert self._held_at is not None
        self.num_held.append(len(self.calls) - self._held_at)
        self._held_at = None


class Bench:
    """Four environments and two replicas that answer when told to."""

    def __init__(self, max_pending_tasks: int, worker=HoldingWorker) -> None:
        self.workers = [worker(f"eval-{i}") for i in range(2)]
        submitter = TaskSubmitter(max_pending_tasks, timeout_seconds=WAIT_SECONDS)
        pool = PolicyPool(
            self.workers, lambda members: create_router("async", "simple", members, None), submitter
        )
        self.env_ids = [f"env-{i}" for i in range(4)]
        self.group = PolicyGroup(
            {"kind": pool}, dict.fromkeys(self.env_ids, "kind"), self.workers[0], submitter
        )

    def round(self):
        return self.group.act_each((name, shown_observation(name)) for name in self.env_ids)


def test_a_round_goes_to_each_replica_together_and_comes_back_in_order() -> None:
    bench = Bench(max_pending_tasks=2)
    answers = list(bench.round())
    assert [env_id for env_id, _ in answers] == bench.env_ids
    assert [worker.num_held for worker in bench.workers] == [[2], [2]]


def test_what_was_sent_is_handed_out_before_a_wait_for_room() -> None:
    bench = Bench(max_pending_tasks=1)
    round_ = bench.round()
    first = [next(round_), next(round_)]
    assert [env_id for env_id, _ in first] == ["env-0", "env-1"]
    assert [worker.num_held for worker in bench.workers] == [[1], [1]]
    rest: list[str] = []
    reader = threading.Thread(target=lambda: rest.extend(env_id for env_id, _ in round_))
    reader.start()
    for worker in bench.workers:
        worker.answer("action")
    reader.join(WAIT_SECONDS)
    assert rest == ["env-2", "env-3"]


def test_nothing_stays_held_back_after_an_error() -> None:
    bench = Bench(max_pending_tasks=2)
    bench.env_ids.insert(1, "env-9")
    with pytest.raises(RoutingValueError, match="env-9"):
        list(bench.round())
    assert [worker.num_held for worker in bench.workers] == [[1], [0]]
    assert sum(len(worker.open_calls()) for worker in bench.workers) == 1


def test_where_calls_cannot_be_held_back_each_is_sent_when_it_is_asked_for() -> None:
    bench = Bench(max_pending_tasks=2, worker=RecordedWorker)
    round_ = bench.round()
    for number, env_id in enumerate(bench.env_ids):
        assert sum(len(worker.calls) for worker in bench.workers) == number
        assert next(round_)[0] == env_id


def test_an_empty_round_asks_nobody() -> None:
    bench = Bench(max_pending_tasks=1)
    bench.env_ids.clear()
    assert list(bench.round()) == []
    assert all(worker.num_held == [] for worker in bench.workers)
