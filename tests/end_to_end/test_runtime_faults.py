"""Faults that users of other systems reported, against a runtime with real threads."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import WorkerDiedError
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.least_loaded import least_loaded
from rlightning.testing.slow_replica import spawn_slow_replicas

WAIT_SECONDS = 30.0


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_B20_waiting_for_any_result_has_no_favourite(mode: Any) -> None:
    with InProcessRuntime(mode) as runtime:
        workers = {worker.worker_id: worker for worker in spawn_slow_replicas(runtime, *[0.0] * 5)}
        tasks = {worker_id: worker.call("act") for worker_id, worker in workers.items()}
        rounds_passed_over = dict.fromkeys(tasks, 0)
        largest_gap = 0
        for _ in range(1000):
            ready = [worker_id for worker_id, task in tasks.items() if task.is_done()]
            done, _ = runtime.wait_any(list(tasks.values()), WAIT_SECONDS)
            served = done[0].worker_id
            for worker_id in ready:  # one that is not ready yet is not passed over
                rounds_passed_over[worker_id] += 1
            largest_gap = max(largest_gap, *rounds_passed_over.values())
            rounds_passed_over[served] = 0
            tasks[served] = workers[served].call("act")
    assert largest_gap <= 10


def test_B44_a_worker_that_dies_answers_all_its_requests_with_its_death(
    runtime: InProcessRuntime,
) -> None:
    submitter = TaskSubmitter(5)
    (worker,) = spawn_slow_replicas(runtime, 0.2)
    tasks = [submitter.submit(worker, "act") for _ in range(5)]
    worker.kill()
    for task in tasks:
        with pytest.raises(WorkerDiedError, match="eval-0"):
            task.result(0)
    assert submitter.load(worker) == 0
    assert submitter.ledger.outcome_counts()["died"] == 5
    (replacement,) = spawn_slow_replicas(runtime, 0.0)
    assert replacement.incarnation == 2
    assert submitter.submit(replacement, "act", 7).result(WAIT_SECONDS) == 7
    assert submitter.load(replacement) == 0


def test_B52_calls_that_arrive_during_a_forward_pass_are_answered_together(
    runtime: InProcessRuntime,
) -> None:
    (worker,) = spawn_slow_replicas(runtime, 0.2)
    submitter = TaskSubmitter(64)
    started_at = time.monotonic()
    tasks = []
    for number in range(80):
        time.sleep(max(0.0, started_at + 0.025 * number - time.monotonic()))
        tasks.append(submitter.submit(worker, "act_together", number % 16))
    assert [task.result(WAIT_SECONDS) for task in tasks] == [number % 16 for number in range(80)]
    sizes = worker.call("batch_sizes").result(WAIT_SECONDS)
    assert sum(sizes) == 80
    assert sum(sizes) / len(sizes) >= 6


def test_B56_four_coordinators_at_a_tiny_switch_interval_lose_nothing() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with InProcessRuntime("inline") as runtime:
            workers = spawn_slow_replicas(runtime, *[0.0] * 4)
            submitter = TaskSubmitter(2, timeout_seconds=WAIT_SECONDS)
            choose = least_loaded(submitter)

            def coordinate(position: int) -> int:
                return sum(
                    submitter.submit_to_any(workers, choose, "act", 1).result(WAIT_SECONDS)
                    + submitter.submit(workers[position], "act", 1).result(WAIT_SECONDS)
                    for _ in range(1250)
                )

            with ThreadPoolExecutor(4) as executor:
                assert sum(executor.map(coordinate, range(4))) == 10_000
            assert submitter.loads(workers) == [0, 0, 0, 0]
            assert submitter.ledger.outcome_counts()["success"] == 10_000
    finally:
        sys.setswitchinterval(interval)


def test_B56_whoever_is_ready_is_served_at_once_and_nobody_waits_for_the_slowest(
    runtime: InProcessRuntime,
) -> None:
    num_rounds = 12
    pauses = [
        [0.05 if (number + position) % 6 == 0 else 0.002 for number in range(num_rounds)]
        for position in range(6)
    ]
    workers = spawn_slow_replicas(runtime, *[0.0] * 6)

    def seconds_when_waiting_for_all() -> float:
        started_at = time.monotonic()
        for number in range(num_rounds):
            tasks = [
                worker.call("act_for", pause[number])
                for worker, pause in zip(workers, pauses, strict=True)
            ]
            for task in tasks:
                task.result(WAIT_SECONDS)
        return time.monotonic() - started_at

    def seconds_when_serving_the_ready() -> float:
        started_at = time.monotonic()
        left = {
            worker.worker_id: iter(pause) for worker, pause in zip(workers, pauses, strict=True)
        }
        by_id = {worker.worker_id: worker for worker in workers}
        running = [by_id[name].call("act_for", next(pause)) for name, pause in left.items()]
        while running:
            done, running = runtime.wait_any(running, WAIT_SECONDS)
            for task in done:
                pause = next(left[task.worker_id], None)
                if pause is not None:
                    running.append(by_id[task.worker_id].call("act_for", pause))
        return time.monotonic() - started_at

    assert seconds_when_waiting_for_all() / seconds_when_serving_the_ready() >= 1.4


PROGRAM_THAT_ENDS = """
import sys
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
runtime = InProcessRuntime("threads")
worker = runtime.spawn(WorkerSpec("env-0", list))
for number in range(100):
    worker.call("append", number)
assert worker.call("__len__").result(10) == 100
if sys.argv[1] == "shutdown":
    runtime.shutdown()
"""

PROGRAM_THAT_HANGS = """
import sys, time
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime

class SleepyEnvironment:
    step_index = 0
    def step(self):
        self.step_index += 1
        if self.step_index == 7:
            time.sleep(600)
    def describe_activity(self):
        return f"environment 'Sleepy-v0' (env-3), step {self.step_index}"

runtime = InProcessRuntime("inline", on_hang=lambda report: print("the panel closes", flush=True))
worker = runtime.spawn(WorkerSpec("env-3", SleepyEnvironment, call_timeout_seconds=0.3))
while True:
    worker.call("step")
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("end", ["shutdown", "forget"])
def test_B46_the_process_exits_when_the_program_is_over(end: str) -> None:
    started_at = time.monotonic()
    result = run(PROGRAM_THAT_ENDS, end)
    assert (result.returncode, result.stderr) == (0, "")
    assert time.monotonic() - started_at < 30


def test_B47_an_inline_environment_that_hangs_ends_the_process_with_a_report() -> None:
    result = run(PROGRAM_THAT_HANGS)
    assert result.returncode == 70
    assert result.stdout == "the panel closes\n"
    assert "worker 'env-3' hangs in step()" in result.stderr
    assert "environment 'Sleepy-v0' (env-3), step 7" in result.stderr
    assert "in step" in result.stderr.partition("Thread")[2]


def test_B60_waiting_with_nothing_outstanding_is_an_error(runtime: InProcessRuntime) -> None:
    with pytest.raises(Exception, match="at least one task to wait for, got none"):
        runtime.wait_any([])
