"""Several nodes on one machine: their raylets have node ids, and can be taken away."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster

from rlightning.errors import WorkerDiedError
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.ray_workers import Bench

LIMIT_SECONDS = 30.0
STORE_BYTES = 100 * 2**20


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": STORE_BYTES},
    )
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_workers_land_on_their_nodes_and_a_lost_node_is_the_death_of_its_own_only(
    cluster: Cluster,
) -> None:
    doomed = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    other = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    with RayRuntime(RaySettings(address=cluster.address)) as runtime:
        node_ids = {"env-0": doomed.node_id, "eval-0": other.node_id}
        specs = [WorkerSpec(name, Bench, node_id) for name, node_id in node_ids.items()]
        env, replica = runtime.spawn_all(specs)
        assert {env.worker_id: env.node_id, replica.worker_id: replica.node_id} == node_ids

        observation = env.call("large_array", 1_000_000)
        assert replica.call("echo_size", observation).result(LIMIT_SECONDS) == 1_000_000

        kept_there = env.call("large_array", 1_000_000)
        deadline = time.monotonic() + LIMIT_SECONDS
        while not kept_there.is_done():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running = env.call("sleep", 60.0)
        cluster.remove_node(doomed)
        with pytest.raises(WorkerDiedError, match="env-0") as caught:
            running.result(LIMIT_SECONDS)
        assert caught.value.worker_id == "env-0"
        assert doomed.node_id in str(caught.value)
        with pytest.raises(WorkerDiedError) as caught:
            replica.call("echo_size", kept_there).result(LIMIT_SECONDS)
        assert caught.value.worker_id == "env-0"
        assert replica.call("echo", 1).result(LIMIT_SECONDS) == 1


def test_a_joined_cluster_is_left_as_it_was(cluster: Cluster) -> None:
    with RayRuntime(RaySettings(address=cluster.address)) as runtime:
        runtime.spawn(WorkerSpec("env-0", Bench, num_cpus=2.0))
    assert not ray.is_initialized()
    ray.init(address=cluster.address, configure_logging=False, log_to_driver=False)
    deadline = time.monotonic() + LIMIT_SECONDS
    while ray.available_resources().get("CPU") != 2.0:
        assert time.monotonic() < deadline, "the CPUs should be free again"
        time.sleep(0.1)


def test_B83_a_large_answer_on_another_node_does_not_hold_up_those_of_others(
    cluster: Cluster,
) -> None:
    far = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    with RayRuntime(RaySettings(address=cluster.address)) as runtime:
        large, small = runtime.spawn_all(
            [WorkerSpec("env-0", Bench, far.node_id), WorkerSpec("env-1", Bench)]
        )
        task = large.call("large_array", 10_000_000)
        assert small.call("echo", 1).result(LIMIT_SECONDS) == 1
        done, _ = runtime.wait_any([task], LIMIT_SECONDS)
        assert done == [task]
        assert not task._has_fetched  # type: ignore[attr-defined]
        assert large.call("echo_size", task).result(LIMIT_SECONDS) == 10_000_000
