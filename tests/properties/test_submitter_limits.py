"""No worker ever has more in flight than it may, whatever threads do."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.runtime.base import WorkerHandle
from rlightning.testing.recorded_worker import RecordedWorker


@pytest.fixture
def _hasty_threads() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class CountingWorker(RecordedWorker):
    """Notes the most calls that it ever had open; a call is closed before its lease returns."""

    def __init__(self, worker_id: str) -> None:
        super().__init__(worker_id)
        self.num_open = self.most_open = 0
        self._lock = threading.Lock()

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            self.num_open += 1
            self.most_open = max(self.most_open, self.num_open)
        task = super().call(method, *args, **kwargs)
        task.add_done_callback(self._close)
        return task

    def _close(self, task: Any) -> None:
        with self._lock:
            self.num_open -= 1


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["send", "answer", "cancel"]))),
)
def test_loads_are_the_open_calls_after_every_step(
    limit: int, steps: list[tuple[int, str]]
) -> None:
    workers = [CountingWorker(f"eval-{i}") for i in range(3)]
    submitter = TaskSubmitter(limit)
    for position, step in steps:
        worker = workers[position]
        if step == "send" and submitter.has_room(worker):
            submitter.submit(worker, "act")
        elif step == "answer" and worker.open_calls():
            worker.answer()
        elif step == "cancel" and worker.open_calls():
            worker.open_calls()[-1].task.cancel()
        assert submitter.loads(workers) == [len(worker.open_calls()) for worker in workers]
    assert all(worker.most_open <= limit for worker in workers)


def send_many(submitter: TaskSubmitter, workers: list[CountingWorker], num_calls: int) -> None:
    generator = random.Random(num_calls)
    for number in range(num_calls):
        if number % 2:
            submitter.submit(workers[generator.randrange(3)], "act")
        else:
            submitter.submit_to_any(workers, generator.choice, "act")


def answer_all(worker: CountingWorker, is_over: threading.Event) -> None:
    while not is_over.is_set() or worker.open_calls():
        for call in worker.open_calls():
            if call.task.try_start():
                call.task.finish(None)


@pytest.mark.usefixtures("_hasty_threads")
@pytest.mark.parametrize("limit", [1, 2])
def test_hasty_threads_never_overfill_a_worker_and_all_are_served(limit: int) -> None:
    workers = [CountingWorker(f"eval-{i}") for i in range(3)]
    submitter = TaskSubmitter(limit, timeout_seconds=60.0)
    is_over = threading.Event()
    answering = [threading.Thread(target=answer_all, args=(worker, is_over)) for worker in workers]
    sending = [threading.Thread(target=send_many, args=(submitter, workers, 40)) for _ in range(6)]
    for thread in [*answering, *sending]:
        thread.start()
    for thread in sending:
        thread.join()
    is_over.set()
    for thread in answering:
        thread.join()
    assert sum(len(worker.calls) for worker in workers) == 240
    assert all(worker.most_open <= limit for worker in workers)
    assert submitter.loads(workers) == [0, 0, 0]
    assert "wait for" not in submitter.report()


def test_any_of_many_seats_can_be_filled_by_choice() -> None:
    workers: list[WorkerHandle] = [RecordedWorker(f"eval-{i}") for i in range(50)]
    submitter = TaskSubmitter(4)
    for _ in range(200):
        submitter.submit_to_any(workers, random.Random(0).choice, "act")
    assert submitter.loads(workers) == [4] * 50
