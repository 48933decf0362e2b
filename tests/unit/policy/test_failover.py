from __future__ import annotations

from collections.abc import Iterable

import pytest

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import (
    NotFiniteError,
    ShapeError,
    SpaceError,
    TaskCancelledError,
    TaskTimeoutError,
    WorkerDiedError,
    WorkerError,
)
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.failover import Attempt, FailoverTask, is_fault_of_another
from rlightning.testing.recorded_worker import RecordedWorker

WAIT_SECONDS = 30.0


class Judge:
    """Sends a failed request to the next worker of a list."""

    def __init__(self, others: Iterable[RecordedWorker] = (), error: Exception | None = None):
        self._others = list(others)
        self._error = error
        self.answered: list[str] = []
        self.failed: list[tuple[str, str, frozenset[str]]] = []

    def succeeded(self, policy: EvalPolicy) -> None:
        self.answered.append(policy.replica_id)

    def send_elsewhere(self, policy, error, tried) -> Attempt | None:
        names = frozenset(each.replica_id for each in tried)
        self.failed.append((policy.replica_id, str(error), names))
        if self._error is not None:
            raise self._error
        return attempt_at(self._others.pop(0)) if self._others else None


def attempt_at(worker: RecordedWorker) -> Attempt:
    return worker.call("act"), EvalPolicy(worker, TaskSubmitter())


def followed(worker: RecordedWorker, judge: Judge) -> FailoverTask:
    return FailoverTask(attempt_at(worker), judge, WAIT_SECONDS)


@pytest.fixture
def workers() -> list[RecordedWorker]:
    return [RecordedWorker(f"eval-{i}") for i in range(3)]


def test_the_first_answer_is_the_answer(workers) -> None:
    judge = Judge(workers[1:])
    task = followed(workers[0], judge)
    assert not task.is_done()
    workers[0].answer("up")
    assert task.result(WAIT_SECONDS) == "up"
    assert (judge.answered, judge.failed) == (["eval-0"], [])
    assert (task.worker_id, task.method) == ("eval-0", "act")


def test_a_failure_is_followed_by_the_next_attempt(workers) -> None:
    judge = Judge(workers[1:])
    task = followed(workers[0], judge)
    workers[0].refuse(RuntimeError("first"))
    wait_for_call(workers[1])
    workers[1].refuse(RuntimeError("second"))
    wait_for_call(workers[2])
    assert not task.is_done()
    workers[2].answer("up")
    assert task.result(WAIT_SECONDS) == "up"
    assert judge.failed == [
        ("eval-0", "first", frozenset({"eval-0"})),
        ("eval-1", "second", frozenset({"eval-0", "eval-1"})),
    ]
    assert judge.answered == ["eval-2"]


def wait_for_call(worker: RecordedWorker) -> None:
    from rlightning.testing.eventually import eventually

    eventually(worker.open_calls)


def test_the_last_error_stands_when_nobody_is_left(workers) -> None:
    task = followed(workers[0], Judge())
    error = RuntimeError("only one")
    workers[0].refuse(error)
    with pytest.raises(RuntimeError, match="only one") as caught:
        task.result(WAIT_SECONDS)
    assert caught.value is error


def test_an_error_of_the_next_attempt_carries_the_first_one(workers) -> None:
    task = followed(workers[0], Judge(error=TimeoutError("no room elsewhere")))
    workers[0].refuse(RuntimeError("first"))
    with pytest.raises(TimeoutError, match="no room elsewhere") as caught:
        task.result(WAIT_SECONDS)
    assert str(caught.value.__cause__) == "first"


@pytest.mark.parametrize("error", [TaskCancelledError("x"), KeyboardInterrupt()])
def test_a_withdrawn_request_is_not_made_again(workers, error) -> None:
    judge = Judge(workers[1:])
    task = followed(workers[0], judge)
    workers[0].refuse(error)
    with pytest.raises(type(error)):
        task.result(WAIT_SECONDS)
    assert judge.failed == []


def test_to_cancel_withdraws_the_attempt_at_hand(workers) -> None:
    judge = Judge(workers[1:])
    task = followed(workers[0], judge)
    assert task.cancel()
    assert not task.cancel()
    with pytest.raises(TaskCancelledError):
        task.result(WAIT_SECONDS)
    assert judge.failed == []


def test_attempts_that_end_at_once_are_made_on_the_callers_thread(workers) -> None:
    for worker in workers[:2]:
        worker.kill()
    judge = Judge(workers[1:])
    task = followed(workers[0], judge)
    assert [name for name, _, _ in judge.failed] == ["eval-0", "eval-1"]
    workers[2].answer("up")
    assert task.result(WAIT_SECONDS) == "up"


def test_callbacks_are_called_once_with_the_task_that_was_handed_out(workers) -> None:
    task = followed(workers[0], Judge(workers[1:]))
    called = []
    task.add_done_callback(called.append)
    workers[0].refuse(RuntimeError("first"))
    wait_for_call(workers[1])
    assert called == []
    workers[1].answer("up")
    assert task.result(WAIT_SECONDS) == "up"
    assert called == [task]


def test_a_wait_that_is_too_long_tells_what_the_replica_does(workers) -> None:
    task = followed(workers[0], Judge())
    with pytest.raises(TaskTimeoutError, match="'eval-0' has 1 open calls"):
        task.result(0.01)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ShapeError("3 numbers"), True),
        (SpaceError("other space"), True),
        (NotFiniteError("NaN"), True),
        (WorkerError("lost", worker_id="env-3"), True),
        (WorkerDiedError("died", worker_id="env-3"), True),
        (WorkerDiedError("died", worker_id="eval-0"), False),
        (WorkerError("who knows"), False),
        (RuntimeError("bug"), False),
    ],
)
def test_whose_fault_it_is(workers, error, expected) -> None:
    policy = EvalPolicy(workers[0], TaskSubmitter())
    assert is_fault_of_another(policy, error) is expected
