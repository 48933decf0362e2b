from __future__ import annotations

import threading
import time

import pytest

from rlightning.errors import TaskCancelledError, TaskTimeoutError
from rlightning.runtime.base import Task
from rlightning.runtime.queued_task import QueuedTask
from rlightning.testing.recorded_worker import RecordedWorker


@pytest.fixture
def worker() -> RecordedWorker:
    return RecordedWorker("env-0")


def task_of(worker: RecordedWorker) -> QueuedTask:
    worker.call("step")
    return worker.calls[-1].task


def test_callbacks_have_run_when_the_result_is_handed_out(worker: RecordedWorker) -> None:
    task = task_of(worker)
    returned: list[str] = []

    def give_back_slowly(_: Task[object]) -> None:
        time.sleep(0.05)
        returned.append("lease")

    task.add_done_callback(give_back_slowly)
    thread = threading.Thread(target=worker.answer, args=(7,))
    thread.start()
    assert task.result() == 7
    assert returned == ["lease"]
    thread.join()


def test_a_callback_may_ask_for_the_result(worker: RecordedWorker) -> None:
    task = task_of(worker)
    seen: list[object] = []
    task.add_done_callback(lambda done: seen.append((done.is_done(), done.result())))
    worker.answer(7)
    assert seen == [(True, 7)]


def test_a_callback_that_raises_is_logged_and_the_others_run(
    worker: RecordedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    task = task_of(worker)
    called: list[Task[object]] = []
    task.add_done_callback(lambda done: 1 / 0)
    task.add_done_callback(called.append)
    worker.answer()
    assert called == [task]
    assert "ZeroDivisionError" in caplog.text


def test_a_removed_callback_is_not_called(worker: RecordedWorker) -> None:
    task = task_of(worker)
    called: list[Task[object]] = []
    task.add_done_callback(called.append)
    task.remove_done_callback(called.append)
    task.remove_done_callback(called.append)
    worker.answer()
    assert called == []


def test_a_cancelled_call_never_begins(worker: RecordedWorker) -> None:
    task = task_of(worker)
    assert task.cancel()
    assert not task.cancel()
    assert not task.try_start()
    assert not task.finish(1)
    with pytest.raises(TaskCancelledError, match=r"env-0.step\(\) was cancelled"):
        task.result()


def test_a_call_that_runs_cannot_be_cancelled(worker: RecordedWorker) -> None:
    task = task_of(worker)
    assert task.try_start()
    assert not task.cancel()
    assert task.finish(1)
    assert task.result() == 1


def test_what_comes_after_the_end_is_dropped(worker: RecordedWorker) -> None:
    task = task_of(worker)
    task.try_start()
    worker.kill()
    assert not task.finish("late")
    assert not task.fail(ValueError("later"))
    assert "WorkerDiedError" in repr(task)


def test_a_wait_without_a_deadline_of_its_own_takes_the_workers(worker: RecordedWorker) -> None:
    worker.call_timeout_seconds = 0.01
    with pytest.raises(TaskTimeoutError, match=r"env-0.step\(\) within 0.01 s.*waiting") as caught:
        task_of(worker).result()
    assert "1 open calls" in str(caught.value)
    assert caught.value.worker_id == "env-0"


def test_tasks_are_numbered_in_the_order_in_which_they_end(worker: RecordedWorker) -> None:
    first, second = task_of(worker), task_of(worker)
    assert first.completion_number == second.completion_number == -1
    second.cancel()
    worker.answer()
    assert second.completion_number < first.completion_number
    assert repr(first) == "<QueuedTask env-0.step(), done>"
