from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rlightning.errors import WorkerError
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.hanging_worker import HangingWorker


class MoodyWorker(HangingWorker):
    def interrupt(self) -> None:
        raise KeyboardInterrupt

    def fail(self) -> None:
        raise ValueError("as always")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def sleeper(release: threading.Event, worker_id: str = "env-3", **options: Any) -> WorkerSpec:
    return WorkerSpec(worker_id, lambda: HangingWorker(release), **options)


# --- both modes ------------------------------------------------------------------------------


def test_an_unknown_mode_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(WorkerError, match=r"'thread' .did you mean 'threads'"):
        InProcessRuntime("thread")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worker_id": ""}, "expected a worker id"),
        ({"factory": 3}, "expected a callable"),
        ({"call_timeout_seconds": 0.0}, "call_timeout_seconds above 0"),
        ({"call_timeout_seconds": float("nan")}, "call_timeout_seconds above 0"),
    ],
)
def test_a_wrong_specification_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkerError, match=message):
        WorkerSpec(**{"worker_id": "env-0", "factory": list, **options})


def test_a_runtime_shows_its_mode_and_size() -> None:
    with InProcessRuntime() as runtime:
        runtime.spawn(WorkerSpec("env-0", list))
        assert repr(runtime) == "<InProcessRuntime inline, 1 workers>"


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_asking_again_and_again_grows_neither_notes_nor_traceback(
    mode: Any, release: threading.Event
) -> None:
    with InProcessRuntime(mode) as runtime:
        worker = runtime.spawn(WorkerSpec("env-3", lambda: MoodyWorker(release)))
        task = worker.call("fail")
        lengths = set()
        for _ in range(5):
            with pytest.raises(ValueError, match="as always") as caught:
                worker.call("echo", task).result(10.0)
            lengths.add(len(caught.traceback))
    assert caught.value.__notes__ == ["raised in worker 'env-3', fail()"]
    assert len(lengths) == 1


# --- inline ----------------------------------------------------------------------------------


def test_inline_calls_run_on_the_callers_thread_and_are_done_at_once() -> None:
    with InProcessRuntime() as runtime:
        worker = runtime.spawn(WorkerSpec("w-0", lambda: threading))
        task = worker.call("get_ident")
        assert task.is_done()
        assert task.result() == threading.get_ident()
        assert repr(task) == "<FinishedTask w-0.get_ident(), done>"
        assert "failed with WorkerError" in repr(worker.call("nothing"))


def test_inline_calls_from_several_threads_run_one_after_the_other() -> None:
    class Counter:
        running = most = 0

        def count(self) -> None:
            self.running += 1
            self.most = max(self.most, self.running)
            time.sleep(0.002)
            self.running -= 1

    counter = Counter()
    with InProcessRuntime() as runtime:
        worker = runtime.spawn(WorkerSpec("w-0", lambda: counter))
        callers = [threading.Thread(target=worker.call, args=("count",)) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert counter.most == 1


def test_an_interrupt_of_the_user_passes_through_an_inline_call(release: threading.Event) -> None:
    with InProcessRuntime() as runtime:
        worker = runtime.spawn(WorkerSpec("env-3", lambda: MoodyWorker(release)))
        with pytest.raises(KeyboardInterrupt):
            worker.call("interrupt")
        assert worker.is_alive()


def test_an_inline_worker_describes_itself_while_it_runs(release: threading.Event) -> None:
    with InProcessRuntime() as runtime:
        worker: Any = runtime.spawn(sleeper(release, call_timeout_seconds=60.0))
        assert worker.describe() == "worker 'env-3' is idle"
        caller = threading.Thread(target=worker.call, args=("sleep",))
        caller.start()
        while worker.running is None:
            time.sleep(0.001)
        assert "busy with sleep() since" in worker.describe()
        release.set()
        caller.join()
