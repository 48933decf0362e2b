"""Weights travel once to each node, and lie there once for all replicas."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.utils.router import SyncSimpleRouter
from rlightning.runtime.base import WorkerHandle, WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.weights_probes import Place, WeightsMaker, WeightsProbe, place_of
from rlightning.weights import snapshot as snapshots

LIMIT_SECONDS = 120.0
NODE = {"num_cpus": 3, "object_store_memory": 100 * 2**20, "include_dashboard": False}
NUM_FLOATS = 1_000_000
KIND = "boat"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(initialize_head=True, connect=False, head_node_args=NODE)
    try:
        for _ in range(2):
            cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[RayRuntime]:
    with RayRuntime(RaySettings(address=cluster.address, start_timeout_seconds=120.0)) as runtime:
        yield runtime


def ask(handle: WorkerHandle, method: str):
    return handle.call(method).result(LIMIT_SECONDS)


@pytest.mark.timeout(400)
def test_weights_are_packed_once_per_version_and_lie_once_on_each_node(
    runtime: RayRuntime, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("the driver has no use for weights")

    monkeypatch.setattr(snapshots, "_from_arrays", refuse)
    head, near, far = (node["NodeID"] for node in ray.nodes())
    maker = partial(WeightsMaker, NUM_FLOATS)
    where = {"eval-0": near, "eval-1": near, "eval-2": far}
    specs = [WorkerSpec(name, WeightsProbe, node_id) for name, node_id in where.items()]
    learner, *replicas = runtime.spawn_all([WorkerSpec("learner-0", maker, head), *specs])
    submitter = TaskSubmitter(4, timeout_seconds=LIMIT_SECONDS)
    pool = PolicyPool(replicas, SyncSimpleRouter, submitter)
    group = PolicyGroup({KIND: pool}, {"env-0": KIND}, learner, submitter, LIMIT_SECONDS)

    assert [group.publish() for _ in range(3)] == [0, 1, 2]
    assert ask(learner, "num_packed") == 3
    late = runtime.spawn(WorkerSpec("eval-3", WeightsProbe, near))
    group.add(KIND, late)
    assert ask(learner, "num_packed") == 3, "one who joins late gets what was packed before"

    assert {ask(handle, "extremes") for handle in [*replicas, late]} == {(2.0, 2.0)}
    places: list[Place] = [ask(handle, "place") for handle in [*replicas, late]]
    assert all("plasma" in place.file for place in places), "in the shared memory of a store"
    first, second, other, joined = places
    assert first == second == joined, "one copy for all replicas of a node"
    assert other.inode != first.inode, "each node has a store of its own"


def test_an_array_of_this_process_alone_lies_in_no_store() -> None:
    probe = WeightsProbe()
    probe.set_weights(WeightsMaker(NUM_FLOATS).publish(KIND))
    assert "plasma" not in probe.place().file
    with pytest.raises(LookupError, match="mapping that holds 0x1"):
        place_of(1)
