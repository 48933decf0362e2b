from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import (
    DispatchError,
    DispatchTimeoutError,
    DispatchValueError,
    WorkerDiedError,
)
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.testing.eventually import eventually
from rlightning.testing.recorded_worker import RecordedWorker

WAIT_SECONDS = 10.0


def first(workers: list[WorkerHandle]) -> WorkerHandle:
    return workers[0]


@pytest.fixture
def pool() -> Any:
    with ThreadPoolExecutor(16) as executor:
        yield executor


def test_the_chooser_sees_only_living_workers_with_room() -> None:
    workers = [RecordedWorker(f"eval-{i}") for i in range(4)]
    submitter = TaskSubmitter()
    submitter.submit(workers[0], "act")
    workers[1].kill()
    offered: list[list[WorkerHandle]] = []

    def choose(free: list[WorkerHandle]) -> WorkerHandle:
        offered.append(list(free))
        free.reverse()
        return free[0]

    submitter.submit_to_any(workers, choose, "act", 5, key="word")
    assert offered == [[workers[2], workers[3]]]
    assert workers[3].calls[0].args == (5,)
    assert workers[3].calls[0].kwargs == {"key": "word"}
    assert submitter.loads(workers) == [1, 0, 0, 1]


def test_a_choice_that_was_not_offered_is_refused() -> None:
    stranger, submitter = RecordedWorker("eval-9"), TaskSubmitter()
    with pytest.raises(DispatchError, match="one of"):
        submitter.submit_to_any([RecordedWorker("eval-0")], lambda free: stranger, "act")
    assert submitter.load(stranger) == 0


def test_B60_nobody_to_choose_from_is_an_error_at_once() -> None:
    with pytest.raises(DispatchValueError, match="at least one worker"):
        TaskSubmitter().submit_to_any([], first, "act")


def test_no_living_worker_is_an_error_at_once() -> None:
    workers = [RecordedWorker("eval-0"), RecordedWorker("eval-1")]
    for worker in workers:
        worker.kill()
    with pytest.raises(WorkerDiedError, match="all of"):
        TaskSubmitter().submit_to_any(workers, first, "act")


def test_a_seat_that_was_lost_between_choice_and_reservation_is_chosen_anew() -> None:
    workers = [RecordedWorker("eval-0"), RecordedWorker("eval-1")]
    submitter = TaskSubmitter()

    def rival_is_quicker(free: list[WorkerHandle]) -> WorkerHandle:
        if free[0] is workers[0]:
            submitter.submit(workers[0], "rival")
        return free[0]

    submitter.submit_to_any(workers, rival_is_quicker, "act")
    assert [call.method for worker in workers for call in worker.calls] == ["rival", "act"]


def test_an_error_of_the_chooser_reaches_the_caller_and_frees_its_place(
    pool: ThreadPoolExecutor,
) -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    submitter.submit(worker, "act")

    def raising(free: list[WorkerHandle]) -> WorkerHandle:
        raise LookupError("no route")

    waiting = pool.submit(submitter.submit_to_any, [worker], raising, "act")
    eventually(lambda: submitter.num_waiting(worker) == 1)
    worker.answer()
    with pytest.raises(LookupError, match="no route"):
        waiting.result(WAIT_SECONDS)
    assert "wait for" not in submitter.report()
    assert submitter.has_room(worker)


def test_B15_a_request_is_bound_only_when_a_worker_has_room(pool: ThreadPoolExecutor) -> None:
    busy, submitter = RecordedWorker("eval-0"), TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    workers = [busy]
    submitter.submit(busy, "act", "long")
    second = pool.submit(submitter.submit_to_any, lambda: workers, first, "act", "second")
    eventually(lambda: submitter.num_waiting(busy) == 1)
    late = RecordedWorker("eval-1")
    workers.append(late)
    submitter.notify_workers_changed()
    second.result(0.5 + WAIT_SECONDS)
    assert late.calls[0].args == ("second",)
    assert len(busy.calls) == 1


def test_B15_workers_may_all_be_away_for_a_while(pool: ThreadPoolExecutor) -> None:
    submitter = TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    workers: list[WorkerHandle] = []
    waiting = pool.submit(submitter.submit_to_any, lambda: workers, first, "act")
    eventually(lambda: bool(submitter._seats.lobby))
    workers.append(RecordedWorker("eval-0"))
    submitter.notify_workers_changed()
    assert waiting.result(WAIT_SECONDS).worker_id == "eval-0"


def test_no_worker_at_all_until_the_deadline_says_so() -> None:
    with pytest.raises(DispatchTimeoutError, match="at no worker within"):
        TaskSubmitter(timeout_seconds=0.01).submit_to_any(list, first, "act")


def test_callers_of_any_worker_are_served_in_the_order_in_which_they_came(
    pool: ThreadPoolExecutor,
) -> None:
    workers = [RecordedWorker("eval-0"), RecordedWorker("eval-1")]
    submitter = TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    for worker in workers:
        submitter.submit(worker, "act", "at first")
    waiting: list[Future[Task[Any]]] = []
    for number in range(4):
        waiting.append(pool.submit(submitter.submit_to_any, workers, first, "act", number))
        eventually(lambda n=number: submitter.num_waiting(workers[0]) == n + 1)  # type: ignore[misc]
    for number, worker in enumerate([workers[1], workers[0], workers[0], workers[1]]):
        worker.answer()
        waiting[number].result(WAIT_SECONDS)
        assert worker.calls[-1].args == (number,)


def test_a_caller_of_any_leaves_the_line_of_a_worker_that_died(pool: ThreadPoolExecutor) -> None:
    dying, other = RecordedWorker("eval-0"), RecordedWorker("eval-1")
    submitter = TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    for worker in (dying, other):
        submitter.submit(worker, "act")
    any_caller = pool.submit(submitter.submit_to_any, [dying, other], first, "act")
    eventually(lambda: submitter.num_waiting(dying) == 1)
    own_caller = pool.submit(submitter.submit, dying, "act")
    eventually(lambda: submitter.num_waiting(dying) == 2)
    dying.kill()
    assert isinstance(own_caller.result(WAIT_SECONDS).error(), WorkerDiedError)
    other.answer()
    assert any_caller.result(WAIT_SECONDS).worker_id == "eval-1"


def test_no_seat_is_given_twice_when_many_threads_want_the_last_one() -> None:
    workers = [RecordedWorker(f"eval-{i}") for i in range(3)]
    submitter = TaskSubmitter(2, timeout_seconds=0.2)
    barrier = threading.Barrier(12)
    refused: list[DispatchTimeoutError] = []

    def want_a_seat() -> None:
        barrier.wait()
        try:
            submitter.submit_to_any(workers, first, "act")
        except DispatchTimeoutError as error:
            refused.append(error)

    threads = [threading.Thread(target=want_a_seat) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(worker.calls) for worker in workers] == [2, 2, 2]
    assert len(refused) == 6
