"""Workers that do not answer: their limit is kept from outside, whatever state they are in."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.errors import TaskTimeoutError, WorkerDiedError
from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.ray_workers import Bench

LIMIT_SECONDS = 2.0
DEADLINE_SECONDS = 60.0


@pytest.fixture
def runtime(local_ray: str) -> Iterator[Runtime]:
    with RayRuntime(RaySettings(start_timeout_seconds=10.0)) as runtime:
        yield runtime


def spawn(runtime: Runtime) -> WorkerHandle:
    return runtime.spawn(WorkerSpec("env-0", Bench, call_timeout_seconds=LIMIT_SECONDS))


def process_id_of(worker: WorkerHandle) -> int:
    process_id: int = worker.call("process_id").result(DEADLINE_SECONDS)
    return process_id


def wait_until_process_ended(process_id: int) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while Path(f"/proc/{process_id}").exists():
        assert time.monotonic() < deadline, "the process should be gone"
        time.sleep(0.05)


def test_a_frozen_worker_is_dead_to_everybody_and_its_process_ends(runtime: Runtime) -> None:
    worker = spawn(runtime)
    process_id = process_id_of(worker)
    os.kill(process_id, signal.SIGSTOP)
    calls = [worker.call("echo", 1), worker.call("sizes", b"x"), worker.call("echo", 2)]
    for call in calls:
        with pytest.raises(WorkerDiedError, match="frozen or hung; last sign of life") as caught:
            call.result()
        assert caught.value.worker_id == "env-0"
    assert "did not answer echo() within 2 s" in str(caught.value)
    assert "it says: nothing (GetTimeoutError)" in str(caught.value)
    assert not worker.is_alive()
    wait_until_process_ended(process_id)
    second = spawn(runtime)
    assert second.incarnation == 2
    assert second.call("echo", 3).result() == 3


def test_a_worker_that_hangs_says_in_what(runtime: Runtime) -> None:
    call = spawn(runtime).call("sleep", 600.0)
    with pytest.raises(WorkerDiedError, match=r"busy with sleep\(\) since .* \(asleep for 600.0 s"):
        call.result()


def test_what_a_worker_answers_that_woke_up_too_late_is_discarded(runtime: Runtime) -> None:
    worker = spawn(runtime)
    process_id = process_id_of(worker)
    os.kill(process_id, signal.SIGSTOP)
    call = worker.call("echo", 1)
    with pytest.raises(WorkerDiedError):
        call.result()
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGCONT)
    wait_until_process_ended(process_id)
    assert isinstance(call.error(), WorkerDiedError)
    with pytest.raises(WorkerDiedError):
        worker.call("echo", 2).result()


def test_a_slow_worker_within_its_limit_is_left_alone_however_much_waits_for_it(
    runtime: Runtime,
) -> None:
    worker = spawn(runtime)
    calls = [worker.call("sleep", 0.5 * LIMIT_SECONDS) for _ in range(5)]
    gathered = [worker.call("slow_size", b"x") for _ in range(20)]
    for call in [*calls, *gathered]:
        call.result(DEADLINE_SECONDS)
    assert worker.is_alive()


def test_time_that_goes_by_until_an_argument_is_there_is_not_counted(runtime: Runtime) -> None:
    slow = runtime.spawn(WorkerSpec("eval-0", Bench))
    worker = spawn(runtime)
    late = worker.call("echo", slow.call("sleep", 2.5 * LIMIT_SECONDS))
    behind = worker.call("echo", 1)
    assert late.result(DEADLINE_SECONDS) is None
    assert behind.result(DEADLINE_SECONDS) == 1
    assert worker.is_alive()


@pytest.mark.long
def test_a_process_that_is_frozen_while_its_object_is_made_is_a_failed_start(
    runtime: Runtime, tmp_path: Path
) -> None:
    mark = tmp_path / "process"
    spec = WorkerSpec("env-0", partial(freeze, mark), call_timeout_seconds=LIMIT_SECONDS)
    with pytest.raises(TaskTimeoutError, match=r"factory\(\) of worker 'env-0'"):
        runtime.spawn(spec)
    wait_until_process_ended(int(mark.read_text()))


def freeze(mark: Path) -> Bench:
    """Stop the process that makes the worker."""
    mark.write_text(str(os.getpid()))
    os.kill(os.getpid(), signal.SIGSTOP)
    return Bench()
