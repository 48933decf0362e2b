from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from rlightning.engine.placed_runtime import PlacedRuntime
from rlightning.errors import PlacementError, WorkerError
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.runtime.base import Runtime, Task, WorkerHandle, WorkerSpec
from rlightning.testing.recorded_worker import RecordedWorker

DEMANDS = {
    "env": Demand(Fraction(2)),
    "eval": Demand(Fraction(1), Fraction(1, 3), 1024),
    "train": Demand(Fraction(1), Fraction(2)),
}


class FakeCluster(Runtime):
    """Starts nothing and notes what it was asked for; some workers land elsewhere."""

    def __init__(self, elsewhere: dict[str, str] | None = None, refuses: str = "") -> None:
        self.specs: list[WorkerSpec] = []
        self.workers: dict[str, RecordedWorker] = {}
        self.is_shut_down = False
        self._elsewhere = elsewhere or {}
        self._refuses = refuses

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        if spec.worker_id == self._refuses:
            raise WorkerError("no process", worker_id=spec.worker_id)
        self.specs.append(spec)
        node_id = self._elsewhere.get(spec.worker_id, spec.node_id)
        self.workers[spec.worker_id] = RecordedWorker(spec.worker_id, node_id=node_id)
        return self.workers[spec.worker_id]

    def wait_any(
        self, tasks: Sequence[Task[Any]], timeout_seconds: float | None = None
    ) -> tuple[list[Task[Any]], list[Task[Any]]]:
        return list(tasks), []

    def shutdown(self, timeout_seconds: float = 0.0) -> None:
        self.is_shut_down = True


@pytest.fixture
def manager() -> GlobalResourceManager:
    request = PlacementRequest((Pool((0,), (0, 1)),), demands=DEMANDS)
    return GlobalResourceManager(plan_placement([Node.of("n", 16, 3)], request))


def specs(*names: str) -> Iterable[WorkerSpec]:
    return (WorkerSpec(name, object) for name in names)


def names(handles: Iterator[WorkerHandle]) -> list[str]:
    return [handle.worker_id for handle in handles]


def test_the_largest_part_of_a_gpu_is_started_first_and_the_order_of_answers_stays(manager) -> None:
    cluster = FakeCluster()
    started = PlacedRuntime(cluster, manager).spawn_all(
        specs("env-0", "eval-1", "learner-0", "eval-0")
    )
    assert names(started) == ["env-0", "eval-1", "learner-0", "eval-0"]
    assert [spec.worker_id for spec in cluster.specs] == ["learner-0", "eval-1", "eval-0", "env-0"]


def test_each_worker_gets_its_node_and_resources(manager) -> None:
    cluster = FakeCluster()
    PlacedRuntime(cluster, manager).spawn(WorkerSpec("eval-0", object, call_timeout_seconds=5.0))
    (spec,) = cluster.specs
    assert (spec.node_id, spec.num_cpus, spec.num_gpus, spec.memory_bytes) == ("n", 1, 0.3333, 1024)
    assert spec.call_timeout_seconds == 5.0


def test_a_worker_without_a_plan_is_started_as_it_says(manager) -> None:
    cluster = FakeCluster()
    spec = WorkerSpec("helper", object, "somewhere", num_cpus=3.0)
    PlacedRuntime(cluster, manager).spawn(spec)
    assert cluster.specs == [spec]


def test_B27_a_worker_that_landed_elsewhere_is_an_error_and_does_not_live_on(manager) -> None:
    cluster = FakeCluster({"eval-1": "m"})
    runtime = PlacedRuntime(cluster, manager)
    with pytest.raises(PlacementError, match="'eval-1' on node 'n'.*on 'm'"):
        list(runtime.spawn_all(specs("env-0", "eval-0", "eval-1")))
    assert not any(
        cluster.workers[name].is_alive() for name in ("eval-1", "env-0") if name in cluster.workers
    )


def test_who_was_not_handed_out_yet_does_not_live_on_after_an_error(manager) -> None:
    cluster = FakeCluster(refuses="env-0")
    with pytest.raises(WorkerError, match="no process"):
        list(PlacedRuntime(cluster, manager).spawn_all(specs("env-0", "eval-0", "learner-0")))
    assert [cluster.workers[name].is_alive() for name in ("eval-0", "learner-0")] == [False, False]


def test_waiting_and_shutting_down_are_the_other_runtimes_affair(manager) -> None:
    cluster = FakeCluster()
    runtime = PlacedRuntime(cluster, manager)
    task = runtime.spawn(WorkerSpec("env-0", object)).call("reset")
    assert runtime.wait_any([task], 1.0) == ([task], [])
    runtime.shutdown()
    assert cluster.is_shut_down
    assert "FakeCluster" in repr(runtime)
