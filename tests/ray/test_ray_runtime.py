from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from rlightning.dispatch.ledger import Ledger
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import (
    TaskCancelledError,
    TaskTimeoutError,
    WorkerDiedError,
    WorkerError,
)
from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.ray_task import RayTask
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.ray_workers import Bench, NotPicklableError

LIMIT_SECONDS = 30.0


@pytest.fixture
def runtime(local_ray: str) -> Iterator[Runtime]:
    with RayRuntime(RaySettings(start_timeout_seconds=30.0)) as runtime:
        yield runtime


def spawn(runtime: Runtime, worker_id: str = "eval-0", **options: Any) -> WorkerHandle:
    return runtime.spawn(WorkerSpec(worker_id, Bench, **options))


def process_id_of(worker: WorkerHandle) -> int:
    process_id: int = worker.call("process_id").result(LIMIT_SECONDS)
    assert process_id != os.getpid()
    return process_id


def wait_until_dead(worker: WorkerHandle) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while worker.is_alive():
        assert time.monotonic() < deadline, f"{worker} should be known to be dead"
        time.sleep(0.01)


class TestFailures:
    def test_the_death_of_an_idle_worker_is_known_without_a_call(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        os.kill(process_id_of(worker), signal.SIGKILL)
        wait_until_dead(worker)
        with pytest.raises(WorkerDiedError, match=r"eval-0.*died on node"):
            worker.call("echo", 1).result(LIMIT_SECONDS)

    def test_B44_a_worker_killed_with_five_pending_fails_five_calls_and_leaves_no_load(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime, "env-0")
        process_id = process_id_of(worker)
        ledger = Ledger()
        submitter = TaskSubmitter(5, ledger=ledger)
        tasks = [submitter.submit(worker, "sleep", 60.0) for _ in range(5)]
        os.kill(process_id, signal.SIGKILL)
        for task in tasks:
            with pytest.raises(WorkerDiedError, match="env-0") as caught:
                task.result(LIMIT_SECONDS)
            assert caught.value.worker_id == "env-0"
        assert ledger.load("env-0") == 0
        reborn = spawn(runtime, "env-0")
        assert reborn.incarnation == 2
        assert submitter.submit(reborn, "echo", 1).result(LIMIT_SECONDS) == 1

    def test_B36_after_the_first_error_a_dead_worker_gets_no_call(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        running = worker.call("sleep", 60.0)
        os.kill(worker.process_id, signal.SIGKILL)  # type: ignore[attr-defined]
        with pytest.raises(WorkerDiedError):
            running.result(LIMIT_SECONDS)
        assert not worker.is_alive()
        later = worker.call("echo", 1)
        assert later.is_done(), "no call goes out to it"

    def test_B35_the_death_of_an_arguments_worker_names_that_worker(self, runtime: Runtime) -> None:
        env, replica = spawn(runtime, "env-0"), spawn(runtime, "eval-0")
        observation = env.call("sleep", 60.0)
        action = replica.call("echo", observation)
        gathered_action = replica.call("sizes", observation)
        os.kill(env.process_id, signal.SIGKILL)  # type: ignore[attr-defined]
        for task in (action, gathered_action):
            with pytest.raises(WorkerDiedError) as caught:
                task.result(LIMIT_SECONDS)
            assert caught.value.worker_id == "env-0"
        assert replica.is_alive()
        assert replica.call("echo", 1).result(LIMIT_SECONDS) == 1

    def test_an_error_that_cannot_be_pickled_comes_as_text(self, runtime: Runtime) -> None:
        with pytest.raises(WorkerError, match="NotPicklableError: kept here") as caught:
            spawn(runtime).call("fail_not_picklable").result(LIMIT_SECONDS)
        assert caught.value.worker_id == "eval-0"
        with pytest.raises(TypeError):
            pickle.loads(pickle.dumps(NotPicklableError("kept here", code=1)))

    def test_an_answer_that_cannot_be_pickled_is_an_error_of_its_caller(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        with pytest.raises((TypeError, WorkerError), match="pickle"):
            worker.call("lock").result(LIMIT_SECONDS)
        assert worker.call("echo", 1).result(LIMIT_SECONDS) == 1

    def test_an_argument_that_cannot_be_pickled_is_an_error_of_its_caller(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        with pytest.raises((TypeError, WorkerError), match="pickle"):
            worker.call("echo", threading.Lock()).result(LIMIT_SECONDS)
        assert worker.call("echo", 1).result(LIMIT_SECONDS) == 1

    def test_a_late_answer_names_what_the_worker_is_busy_with(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        task = worker.call("sleep", 60.0)
        with pytest.raises(TaskTimeoutError, match=r"busy with sleep\(\).*asleep for 60"):
            task.result(0.5)
        worker.kill()


class TestEnds:
    def test_a_call_that_has_not_begun_can_be_cancelled(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        running = worker.call("sleep", 1.0)
        behind = worker.call("remember", "cancelled")
        gathered_calls = [worker.call("sizes", b"x") for _ in range(4)]
        worker.call("echo", 1)
        assert behind.cancel()
        assert gathered_calls[-1].cancel()
        with pytest.raises(TaskCancelledError):
            behind.result(LIMIT_SECONDS)
        running.result(LIMIT_SECONDS)
        assert worker.call("seen").result(LIMIT_SECONDS) == []
        assert not running.cancel()

    def test_a_running_call_cannot_be_cancelled(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        worker.call("echo", 1).result(LIMIT_SECONDS)
        running = worker.call("sleep", 1.0)
        time.sleep(0.3)
        assert not running.cancel()
        assert running.result(LIMIT_SECONDS) is None

    def test_stop_lets_the_running_call_finish_and_ends_those_behind(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        running = worker.call("sleep", 1.0)
        time.sleep(0.3)
        behind = worker.call("echo", 1)
        worker.stop()
        assert running.result(LIMIT_SECONDS) is None
        with pytest.raises(WorkerDiedError, match="was stopped"):
            behind.result(LIMIT_SECONDS)

    def test_stop_names_a_call_that_does_not_end_and_ends_its_process(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        process_id = process_id_of(worker)
        running = worker.call("sleep", 60.0)
        time.sleep(0.3)
        with pytest.raises(TaskTimeoutError, match="sleep"):
            worker.stop(0.5)
        with pytest.raises(WorkerDiedError):
            running.result(LIMIT_SECONDS)
        wait_until_process_ended(process_id)

    def test_a_frozen_process_can_be_killed(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        process_id = process_id_of(worker)
        os.kill(process_id, signal.SIGSTOP)
        task = worker.call("echo", 1)
        worker.kill()
        with pytest.raises(WorkerDiedError, match="was killed"):
            task.result(LIMIT_SECONDS)
        wait_until_process_ended(process_id)
        assert spawn(runtime).incarnation == 2

    def test_shutdown_ends_every_process(self, local_ray: str) -> None:
        with RayRuntime() as runtime:
            workers = [spawn(runtime, f"env-{i}") for i in range(3)]
            process_ids = [process_id_of(worker) for worker in workers]
        for process_id in process_ids:
            wait_until_process_ended(process_id)


def wait_until_process_ended(process_id: int) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while Path("/proc", str(process_id)).exists():
        assert time.monotonic() < deadline, f"process {process_id} should have ended"
        time.sleep(0.02)


class TestOrderAndGathering:
    def test_calls_that_wait_for_a_gathered_method_are_answered_together(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        running = worker.call("sleep", 0.5)
        tasks = [worker.call("sizes", b"x" * number) for number in range(20)]
        assert [task.result(LIMIT_SECONDS) for task in tasks] == list(range(20))
        running.result(LIMIT_SECONDS)
        assert worker.call("batches").result(LIMIT_SECONDS) == [1, 1, 16, 2]

    def test_B75_weights_pass_the_requests_that_wait(self, runtime: Runtime) -> None:
        worker = spawn(runtime)
        requests = [worker.call("slow_size", b"x") for _ in range(40)]
        worker.call("set_weights", 7).result(LIMIT_SECONDS)
        assert not requests[-1].is_done()
        versions = [request.result(LIMIT_SECONDS) for request in requests]
        assert versions[-1] == 7

    def test_B81_methods_run_one_at_a_time_and_questions_beside_them(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        tasks = [worker.call("enter_and_leave") for _ in range(5)]
        tasks += [worker.call("gathered_enter_and_leave", 1) for _ in range(5)]
        assert max(task.result(LIMIT_SECONDS) for task in tasks) == 1
        busy = worker.call("sleep", 2.0)
        time.sleep(0.3)
        assert "busy with sleep" in worker.activity()  # type: ignore[attr-defined]
        assert not busy.is_done()
        busy.result(LIMIT_SECONDS)

    def test_answers_stay_in_the_object_store_until_they_are_asked_for(
        self, runtime: Runtime
    ) -> None:
        env, replica = spawn(runtime, "env-0"), spawn(runtime, "eval-0")
        observation = env.call("large_array", 1_000_000)
        size = replica.call("echo_size", observation)
        assert size.result(LIMIT_SECONDS) == 1_000_000
        assert isinstance(observation, RayTask)
        assert not observation._has_fetched

    def test_what_an_answer_shares_with_its_worker_is_not_changed_later(
        self, runtime: Runtime
    ) -> None:
        worker = spawn(runtime)
        first = worker.call("same_array", 1)
        second = worker.call("same_array", 2)
        assert np.all(first.result(LIMIT_SECONDS) == 1)
        assert np.all(second.result(LIMIT_SECONDS) == 2)
