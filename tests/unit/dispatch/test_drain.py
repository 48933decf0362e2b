"""Waiting until a worker has answered all it has."""

from __future__ import annotations

import threading

from rlightning.dispatch.drain import wait_until_idle
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime


class Gate:
    """Answers only when it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def pass_through(self) -> str:
        self.opened.wait(10.0)
        return "passed"


def test_an_idle_worker_is_drained_at_once() -> None:
    with InProcessRuntime() as runtime:
        worker = runtime.spawn(WorkerSpec("eval-0", Gate))
        assert wait_until_idle(TaskSubmitter(), worker, timeout_seconds=0.0)


def test_draining_ends_when_the_last_answer_is_there() -> None:
    gate = Gate()
    with InProcessRuntime("threads") as runtime:
        worker = runtime.spawn(WorkerSpec("eval-0", lambda: gate))
        submitter = TaskSubmitter(3)
        tasks = [submitter.submit(worker, "pass_through") for _ in range(3)]
        assert not wait_until_idle(submitter, worker, timeout_seconds=0.05)
        gate.opened.set()
        assert wait_until_idle(submitter, worker, timeout_seconds=10.0)
        assert [task.result() for task in tasks] == ["passed"] * 3
