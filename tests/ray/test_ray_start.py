from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ray")

from rlightning.errors import RLightningError, TaskTimeoutError, WorkerError
from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.ray import starting
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.ray_workers import Bench


@pytest.fixture
def runtime(local_ray: str) -> Iterator[Runtime]:
    with RayRuntime() as runtime:
        yield runtime


def spawn(runtime: Runtime, worker_id: str = "eval-0", **options: Any) -> WorkerHandle:
    return runtime.spawn(WorkerSpec(worker_id, Bench, **options))


def test_B22_a_worker_that_no_node_can_hold_is_refused_with_what_is_missing(
    runtime: Runtime, local_ray: str
) -> None:
    begun = time.monotonic()
    with pytest.raises(WorkerError, match=rf"'eval-0'.*{local_ray} lacks CPU 64") as caught:
        spawn(runtime, num_cpus=64.0, node_id=local_ray)
    assert caught.value.worker_id == "eval-0"
    assert time.monotonic() - begun < 30.0


@pytest.mark.long
def test_B22_a_worker_on_a_full_node_is_an_error_within_the_limit(local_ray: str) -> None:
    with RayRuntime() as runtime:
        spawn(runtime, "env-0", num_cpus=2.0)
        begun = time.monotonic()
        with pytest.raises(WorkerError, match=rf"'eval-0'.*{local_ray} lacks CPU 1.*env-0"):
            spawn(runtime, "eval-0", num_cpus=1.0, node_id=local_ray)
        assert time.monotonic() - begun < 30.0
        assert spawn(runtime, "eval-0").incarnation == 1, "it was never started"


@pytest.mark.long
def test_of_workers_that_start_together_none_starts_if_one_has_no_room(
    runtime: Runtime, local_ray: str
) -> None:
    specs = [WorkerSpec(f"env-{i}", Bench, local_ray, num_cpus=1.0) for i in range(3)]
    with pytest.raises(WorkerError, match=rf"'env-\d'.*{local_ray} lacks CPU 1.*taken by env-"):
        list(runtime.spawn_all(specs))
    assert [handle.incarnation for handle in runtime.spawn_all(specs[:2])] == [1, 1]


def test_a_node_that_is_not_there_is_named(runtime: Runtime, local_ray: str) -> None:
    with pytest.raises(WorkerError, match=rf"'nowhere'.*there are {local_ray}"):
        spawn(runtime, node_id="nowhere")


def test_B27_a_worker_without_resources_lands_on_its_node(runtime: Runtime, local_ray: str) -> None:
    worker = spawn(runtime, node_id=local_ray)
    assert worker.node_id == local_ray


def test_other_versions_at_a_worker_are_an_error_that_names_both(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"rlightning": "9.9.9", "Python": "3.11.0", "torch": "1.0"}
    monkeypatch.setattr(starting, "versions_here", lambda: here)
    with pytest.raises(WorkerError, match=r"rlightning 9\.9\.9 at the driver and 0\.\S+ at"):
        spawn(runtime)


@pytest.mark.long
def test_a_factory_that_takes_too_long_is_an_error(local_ray: str) -> None:
    with (
        RayRuntime(RaySettings(start_timeout_seconds=10.0)) as runtime,
        pytest.raises(TaskTimeoutError, match=r"factory\(\).*eval-0.*within 10"),
    ):
        runtime.spawn(WorkerSpec("eval-0", Bench.create_slowly, call_timeout_seconds=0.5))


def test_workers_that_start_together_are_yielded_in_order(runtime: Runtime) -> None:
    specs = [WorkerSpec(f"env-{i}", Bench) for i in range(3)]
    handles = list(runtime.spawn_all(specs))
    assert [handle.worker_id for handle in handles] == ["env-0", "env-1", "env-2"]


def test_if_one_of_them_cannot_be_made_it_does_not_live_on(runtime: Runtime) -> None:
    specs = [WorkerSpec("env-0", Bench), WorkerSpec("env-1", Bench.fail_to_be_made)]
    handles = runtime.spawn_all(specs)
    assert next(handles).is_alive(), "it was made, and is the caller's to end"
    with pytest.raises(RLightningError, match="cannot be made"):
        next(handles)
    assert spawn(runtime, "env-1").incarnation == 2
