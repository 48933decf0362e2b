from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from rlightning.dispatch.ledger import Ledger
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import (
    DispatchTimeoutError,
    DispatchTypeError,
    DispatchValueError,
    TaskCancelledError,
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


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, -1, -(10**20), np.int64(0)])
def test_a_limit_below_one_is_refused(limit: Any) -> None:
    with pytest.raises(DispatchValueError, match="at least 1, got"):
        TaskSubmitter(limit)


@pytest.mark.parametrize("limit", [1.0, True, "1", None, float("nan"), np.float64(1), [1]])
def test_a_limit_that_is_no_integer_is_refused(limit: Any) -> None:
    with pytest.raises(DispatchTypeError, match="whole number of at least 1, got"):
        TaskSubmitter(limit)


@pytest.mark.parametrize("seconds", [0, -1.0, float("inf"), float("nan")])
def test_every_wait_has_a_deadline(seconds: float) -> None:
    with pytest.raises(DispatchValueError, match="every wait has a deadline"):
        TaskSubmitter(timeout_seconds=seconds)


@pytest.mark.parametrize("seconds", [None, "60", True])
def test_a_timeout_that_is_no_number_is_refused(seconds: Any) -> None:
    with pytest.raises(DispatchTypeError, match="a number above 0"):
        TaskSubmitter(timeout_seconds=seconds)


def test_an_integer_of_numpy_is_an_integer() -> None:
    submitter = TaskSubmitter(np.int64(2))
    assert submitter.max_pending_tasks_each_worker == 2
    assert "at most 2 each" in repr(submitter)


# --- one worker ------------------------------------------------------------------------------


def test_a_call_is_sent_with_its_arguments_and_counted() -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter()
    task = submitter.submit(worker, "act", 1, method="named like a parameter")
    assert worker.calls[0].args == (1,)
    assert worker.calls[0].kwargs == {"method": "named like a parameter"}
    assert submitter.load(worker) == 1
    assert submitter.loads([worker, RecordedWorker("eval-1")]) == [1, 0]
    assert not submitter.has_room(worker)
    worker.answer("done")
    assert task.result() == "done"
    assert submitter.load(worker) == 0
    assert submitter.has_room(worker)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (lambda worker: worker.answer(), "success"),
        (lambda worker: worker.refuse(ValueError("bad")), "failure"),
        (lambda worker: worker.refuse(WorkerDiedError("x", worker_id="env-0")), "failure"),
        (lambda worker: worker.refuse(TaskCancelledError("x", worker_id="env-0")), "failure"),
        (lambda worker: worker.calls[0].task.cancel(), "cancelled"),
        (lambda worker: worker.kill(), "died"),
    ],
)
def test_the_lease_returns_whatever_the_end(
    end: Callable[[RecordedWorker], object], outcome: str
) -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter()
    submitter.submit(worker, "act")
    end(worker)
    counts = submitter.ledger.outcome_counts()
    assert counts.pop(outcome) == 1
    assert set(counts.values()) == {0}
    assert submitter.load(worker) == 0


def test_a_handle_that_breaks_the_promise_never_to_raise_leaves_no_load() -> None:
    class Raising(RecordedWorker):
        def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
            raise KeyboardInterrupt

    worker, submitter = Raising("eval-0"), TaskSubmitter()
    with pytest.raises(KeyboardInterrupt):
        submitter.submit(worker, "act")
    assert submitter.load(worker) == 0


def test_a_dead_worker_answers_at_once_with_its_death() -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter()
    worker.kill()
    for _ in range(3):
        with pytest.raises(WorkerDiedError):
            submitter.submit(worker, "act").result()
    assert submitter.load(worker) == 0


def test_B21_a_wait_for_a_full_worker_ends_at_its_deadline_and_shows_the_ledger() -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter(timeout_seconds=0.02)
    submitter.submit(worker, "act")
    with pytest.raises(DispatchTimeoutError, match=r"room for step\(\) at eval-0") as caught:
        submitter.submit(worker, "step")
    assert "eval-0#1: 1 (act since" in str(caught.value)
    assert "1 wait for eval-0: step since" in str(caught.value)
    assert submitter.load(worker) == 1
    assert "wait for" not in submitter.report()


def test_B21_a_caller_who_gave_up_does_not_block_those_behind(pool: ThreadPoolExecutor) -> None:
    ledger, worker = Ledger(), RecordedWorker("eval-0")
    hurried = TaskSubmitter(timeout_seconds=0.05, ledger=ledger)
    hurried.submit(worker, "act")
    with pytest.raises(DispatchTimeoutError):
        hurried.submit(worker, "act")
    patient = TaskSubmitter(timeout_seconds=WAIT_SECONDS, ledger=ledger)
    waiting = pool.submit(patient.submit, worker, "act")
    worker.answer()
    waiting.result(WAIT_SECONDS)
    assert len(worker.calls) == 2


def test_callers_of_one_worker_are_served_in_the_order_in_which_they_came(
    pool: ThreadPoolExecutor,
) -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    submitter.submit(worker, "act", 0)
    waiting: list[Future[Task[Any]]] = []
    for number in range(1, 6):
        waiting.append(pool.submit(submitter.submit, worker, "act", number))
        eventually(lambda number=number: submitter.num_waiting(worker) == number)  # type: ignore[misc]
    for number in range(1, 6):
        worker.answer()
        waiting[number - 1].result(WAIT_SECONDS)
    assert [call.args[0] for call in worker.calls] == list(range(6))
    assert submitter.wait_seconds()["eval-0"] > 0


def test_a_newcomer_does_not_overtake_those_who_wait(pool: ThreadPoolExecutor) -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    submitter.submit(worker, "act", 0)
    ticket_holder = pool.submit(submitter.submit, worker, "act", 1)
    eventually(lambda: submitter.num_waiting(worker) == 1)
    assert submitter._seats.try_take(worker, "act") is None
    worker.answer()
    ticket_holder.result(WAIT_SECONDS)


def test_a_full_worker_never_delays_a_call_to_another(pool: ThreadPoolExecutor) -> None:
    full, free = RecordedWorker("eval-0"), RecordedWorker("eval-1")
    submitter = TaskSubmitter(timeout_seconds=WAIT_SECONDS)
    submitter.submit(full, "act")
    waiting = [pool.submit(submitter.submit, full, "act") for _ in range(4)]
    eventually(lambda: submitter.num_waiting(full) == 4)
    for _ in range(100):
        submitter.submit(free, "act")
        free.answer()
    assert len(full.calls) == 1
    for number in range(4):
        worker_calls = number + 1
        eventually(lambda n=worker_calls: len(full.calls) == n)  # type: ignore[misc]
        full.answer()
    assert all(future.result(WAIT_SECONDS) for future in waiting)


# --- listeners and shared ledgers ------------------------------------------------------------


def test_release_listeners_are_called_whenever_a_lease_returns() -> None:
    worker, submitter = RecordedWorker("eval-0"), TaskSubmitter()
    loads: list[int] = []
    submitter.add_release_listener(lambda: loads.append(submitter.load(worker)))
    for _ in range(3):
        submitter.submit(worker, "act")
        worker.answer()
    assert loads == [0, 0, 0]


def test_submitters_that_share_a_ledger_share_the_limit_and_the_wake_up(
    pool: ThreadPoolExecutor,
) -> None:
    worker, ledger = RecordedWorker("eval-0"), Ledger()
    one = TaskSubmitter(timeout_seconds=WAIT_SECONDS, ledger=ledger)
    two = TaskSubmitter(timeout_seconds=WAIT_SECONDS, ledger=ledger)
    one.submit(worker, "act")
    assert not two.has_room(worker)
    waiting = pool.submit(two.submit, worker, "act")
    eventually(lambda: "wait for eval-0" in two.report())
    worker.answer()
    waiting.result(WAIT_SECONDS)
    assert two.load(worker) == one.load(worker) == 1
