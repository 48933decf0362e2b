"""What a chain of calls keeps alive: an environment steps on the answer to its last observation."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("ray")

from rlightning.runtime.base import Runtime, WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.ray_task import RayTask
from rlightning.testing.ray_workers import Bench

LIMIT_SECONDS = 60.0
NUM_STEPS = 50
MOST_IN_HAND = 10
"""Tasks that may be alive at any time: those under way, and what a thread has just in hand."""


@pytest.fixture
def runtime(local_ray: str) -> Iterator[Runtime]:
    with RayRuntime() as runtime:
        yield runtime


def num_living_tasks() -> int:
    gc.collect()
    return sum(type(each) is RayTask for each in gc.get_objects())  # isinstance wakes lazy modules


def test_calls_that_are_done_do_not_keep_those_on_whose_answers_they_ran(runtime: Runtime) -> None:
    environment, replica = runtime.spawn_all(
        [WorkerSpec("env-0", Bench), WorkerSpec("eval-0", Bench)]
    )
    before = num_living_tasks()
    newest = environment.call("echo", 0)
    for _ in range(NUM_STEPS):
        newest = environment.call("echo", replica.call("echo", newest))
    assert newest.result(LIMIT_SECONDS) == 0
    deadline = time.monotonic() + LIMIT_SECONDS
    while (num_more := num_living_tasks() - before) > MOST_IN_HAND:
        assert time.monotonic() < deadline, f"{num_more} of {2 * NUM_STEPS} tasks are kept"
        time.sleep(0.1)
