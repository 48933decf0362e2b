"""Calls of one round on a real Ray: which go together, and who waits for whom."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ray")

from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.ray.gathering import NUM_CALLERS_REMEMBERED
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.testing.ray_workers import Bench

LIMIT_SECONDS = 60.0


@pytest.fixture
def runtime(local_ray: str) -> Iterator[Runtime]:
    with RayRuntime() as runtime:
        yield runtime


@pytest.fixture
def workers(runtime: Runtime) -> dict[str, WorkerHandle]:
    names = ("eval-0", "env-0", "env-1")
    specs = [WorkerSpec(name, Bench) for name in names]
    return dict(zip(names, runtime.spawn_all(specs), strict=True))


def batches(worker: WorkerHandle) -> list[int]:
    answered: list[int] = worker.call("batches").result(LIMIT_SECONDS)
    return answered


def test_calls_that_are_held_back_go_together(workers: dict[str, WorkerHandle]) -> None:
    replica = workers["eval-0"]
    replica.hold_calls()
    tasks = [replica.call("sizes", b"x" * number) for number in range(3)]
    replica.release_calls()
    assert [task.result(LIMIT_SECONDS) for task in tasks] == [0, 1, 2]
    assert batches(replica) == [3]


def test_calls_that_nobody_releases_go_by_themselves(workers: dict[str, WorkerHandle]) -> None:
    replica = workers["eval-0"]
    replica.hold_calls()
    assert replica.call("sizes", b"xx").result(LIMIT_SECONDS) == 2


def test_weights_are_not_held_back(workers: dict[str, WorkerHandle]) -> None:
    replica = workers["eval-0"]
    replica.hold_calls()
    request = replica.call("sizes", b"xx")
    replica.call("set_weights", 7).result(LIMIT_SECONDS)
    replica.release_calls()
    assert request.result(LIMIT_SECONDS) == 2


def test_a_request_does_not_wait_for_the_observation_of_a_slow_environment(
    workers: dict[str, WorkerHandle],
) -> None:
    replica, quick, slow = workers["eval-0"], workers["env-0"], workers["env-1"]
    for _ in range(NUM_CALLERS_REMEMBERED):  # the replica knows both, and how long they take
        for env in (quick, slow):
            replica.call("sizes", env.call("echo", b"x")).result(LIMIT_SECONDS)
    for _ in range(40):
        slow.call("sleep", 0.02).result(LIMIT_SECONDS)
    replica.hold_calls()
    is_over = slow.call("sleep", 1.0)
    late = replica.call("sizes", slow.call("echo", b"xxx"))
    early = replica.call("sizes", quick.call("echo", b"xx"))
    replica.release_calls()
    assert early.result(LIMIT_SECONDS) == 2
    assert not is_over.is_done()
    assert late.result(LIMIT_SECONDS) == 3


def test_an_end_is_told_to_those_who_wait_for_no_result(workers: dict[str, WorkerHandle]) -> None:
    ended: list[Any] = []
    are_all = threading.Event()

    def note(task: Any) -> None:
        ended.append(task)
        if len(ended) == 50:
            are_all.set()

    for number in range(50):
        workers["env-0"].call("echo", number).add_done_callback(note)
    assert are_all.wait(LIMIT_SECONDS)
    assert all(task.error() is None for task in ended)
