from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rlightning.errors import TaskTimeoutError, WorkerDiedError, WorkerError
from rlightning.runtime.base import Runtime, WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.hanging_worker import HangingWorker


class Mumbler(HangingWorker):
    def describe_activity(self) -> str:
        raise LookupError("no idea")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def threads(release: threading.Event) -> Iterator[InProcessRuntime]:
    with InProcessRuntime("threads") as runtime:
        yield runtime
        release.set()


def sleeper(release: threading.Event, worker_id: str = "env-3", **options: Any) -> WorkerSpec:
    return WorkerSpec(worker_id, lambda: HangingWorker(release), **options)


def test_B47_a_wait_for_a_hanging_environment_names_it_its_step_and_its_last_beat(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    worker = threads.spawn(sleeper(release, call_timeout_seconds=0.05))
    hanging = worker.call("sleep")
    with pytest.raises(TaskTimeoutError) as caught:
        hanging.result()
    message = str(caught.value)
    assert "env-3.sleep() within 0.05 s" in message
    assert "environment 'Sleepy-v0' (env-3), step 7" in message
    assert "last beat" in message
    release.set()
    assert hanging.result() == "awake"


def test_B47_wait_any_names_everybody_at_its_deadline(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    spec = WorkerSpec("env-4", lambda: Mumbler(release))
    workers = [threads.spawn(sleeper(release)), threads.spawn(spec)]
    with pytest.raises(TaskTimeoutError) as caught:
        threads.wait_any([worker.call("sleep") for worker in workers], 0.05)
    message = str(caught.value)
    assert "one of 2 calls within 0.05 s" in message
    assert "environment 'Sleepy-v0' (env-3), step 7" in message
    assert "describe_activity() raised LookupError('no idea')" in message


def test_waiting_again_and_again_leaves_nothing_on_a_task(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    hanging = threads.spawn(sleeper(release)).call("sleep")
    quick = threads.spawn(sleeper(release, "env-4"))
    for number in range(50):
        done, pending = threads.wait_any([hanging, quick.call("echo", number)], 10.0)
        assert pending == [hanging]
        assert done[0].result() == number
    assert len(gc.get_referents(hanging)) < 20
    assert hanging._callbacks == []  # type: ignore[attr-defined]


def test_done_tasks_come_in_the_order_in_which_they_ended(threads: InProcessRuntime) -> None:
    release = {name: threading.Event() for name in ("env-0", "env-1", "env-2")}
    workers = [threads.spawn(sleeper(event, name)) for name, event in release.items()]
    tasks = [worker.call("sleep") for worker in workers]
    for name in ("env-2", "env-0", "env-1"):
        release[name].set()
        next(task for task in tasks if task.worker_id == name).result(10.0)
    done, _ = threads.wait_any(tasks)
    assert [task.worker_id for task in done] == ["env-2", "env-0", "env-1"]


@pytest.mark.parametrize("at", range(4))
def test_a_cancelled_call_does_not_run_and_does_not_hold_up_others(
    threads: InProcessRuntime, release: threading.Event, at: int
) -> None:
    other, worker = threads.spawn(sleeper(release, "env-4")), threads.spawn(sleeper(release))
    argument = other.call("sleep")
    tasks = [worker.call("echo", argument if number == at else number) for number in range(4)]
    assert tasks[at].cancel()
    rest = [number for number in range(4) if number != at]
    assert [tasks[number].result(10.0) for number in rest] == rest


def test_stop_lets_the_running_call_finish_and_ends_those_that_wait(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    worker = threads.spawn(sleeper(release))
    running = worker.call("sleep")
    while "busy with sleep()" not in worker.describe():  # type: ignore[attr-defined]
        time.sleep(0.001)
    waiting = worker.call("echo", 1)
    timer = threading.Timer(0.02, release.set)
    timer.start()
    worker.stop(10.0)
    assert running.result(0) == "awake"
    with pytest.raises(WorkerDiedError, match="was stopped"):
        waiting.result(0)
    timer.join()


def test_a_thread_that_does_not_end_is_named_and_its_call_is_given_up(
    release: threading.Event,
) -> None:
    runtime = InProcessRuntime("threads")
    worker = runtime.spawn(sleeper(release))
    hanging = worker.call("sleep")
    while "busy with sleep()" not in worker.describe():  # type: ignore[attr-defined]
        time.sleep(0.001)
    with pytest.raises(WorkerError, match="'env-3#1' to end within") as caught:
        runtime.shutdown(0.05)
    assert "step 7" in str(caught.value)
    with pytest.raises(WorkerDiedError):
        hanging.result(0)
    release.set()


def test_kill_frees_the_running_call_and_drops_its_late_answer(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    worker = threads.spawn(sleeper(release))
    tasks = [worker.call("sleep"), *(worker.call("echo", number) for number in range(4))]
    while "busy with sleep()" not in worker.describe():  # type: ignore[attr-defined]
        time.sleep(0.001)
    worker.kill()
    for task in tasks:
        with pytest.raises(WorkerDiedError, match=r"incarnation 1.*was killed"):
            task.result(0)
    release.set()
    reborn = threads.spawn(sleeper(release))
    assert reborn.call("echo", 1).result(10.0) == 1
    assert isinstance(tasks[0].error(), WorkerDiedError)


def test_a_factory_that_hangs_ends_at_the_deadline(
    threads: InProcessRuntime, release: threading.Event
) -> None:
    spec = WorkerSpec("env-3", lambda: release.wait(30.0), call_timeout_seconds=0.05)
    with pytest.raises(TaskTimeoutError, match=r"env-3.factory\(\) within 0.05 s"):
        threads.spawn(spec)
    release.set()


def test_leaving_with_an_error_keeps_that_error_and_notes_what_did_not_end(
    release: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing_shutdown(self: Runtime, timeout_seconds: float = 1.0) -> None:
        raise WorkerError("env-3#1 does not end")

    with monkeypatch.context() as patch:
        patch.setattr(InProcessRuntime, "shutdown", failing_shutdown)
        with pytest.raises(ValueError, match="the real one") as caught, InProcessRuntime():
            raise ValueError("the real one")
        with pytest.raises(WorkerError, match="does not end"), InProcessRuntime():
            pass
    assert caught.value.__notes__ == ["while shutting down: env-3#1 does not end"]


def test_a_task_that_was_looked_at_most_often_comes_first(threads: InProcessRuntime) -> None:
    release = {name: threading.Event() for name in ("env-0", "env-1")}
    slow, quick = (threads.spawn(sleeper(event, name)) for name, event in release.items())
    waited_for = slow.call("sleep")
    for number in range(9):
        done, _ = threads.wait_any([quick.call("echo", number), waited_for], 10.0)
        assert done[0].worker_id == "env-1"
    ended_before = quick.call("echo", 9)
    ended_before.result(10.0)
    release["env-0"].set()
    waited_for.result(10.0)
    done, _ = threads.wait_any([ended_before, waited_for])
    assert done == [waited_for, ended_before]
