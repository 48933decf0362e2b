"""A run on a cluster of which others hold a part, or that is too small for it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlightning.cli.exit_codes import ExitCode
from rlightning.placement.resource_manager import WorkerPlace
from rlightning.placement.taken_room import CPUS, GPUS, MEMORY
from rlightning.runtime.ray.room_check import lacking_room

MIB = 2**20
BAR_SECONDS = 30.0
SECONDS_OF_A_LOADED_MACHINE = 4 * BAR_SECONDS
NODE = {"object_store_memory": 80 * MIB, "memory": 1024 * MIB, "include_dashboard": False}
RAY_NAMES = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
SETTINGS = ["cartpole-ppo", "cluster.backend=ray", "algorithm.minibatch_size=64"]


@dataclass(frozen=True)
class TwoNodes:
    """A head with 3 CPUs and a GPU, and another node with 2 CPUs."""

    address: str
    head: str
    other: str


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 3, "num_gpus": 1})
    try:
        other = cluster.add_node(**NODE, num_cpus=2, labels={"zone": "a"})
        ray.init(cluster.address, configure_logging=False, log_to_driver=False)
        (head,) = {node["NodeID"] for node in ray.nodes()} - {other.node_id}
        yield TwoNodes(cluster.address, head, other.node_id)
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(autouse=True)
def _all_is_free_at_first(nodes: TwoNodes) -> None:
    total = ray.cluster_resources()
    wait_until_free({name: total[name] for name in RAY_NAMES.values()})


class Holder:
    """Somebody else's actor."""

    def ready(self) -> None:
        """Answer once it runs."""


@contextmanager
def held(node_id: str, **resources: float) -> Iterator[None]:
    """Have somebody else hold resources of a node."""
    free = free_now()
    where = NodeAffinitySchedulingStrategy(node_id, soft=False)
    actor: Any = ray.remote(Holder).options(scheduling_strategy=where, **resources).remote()
    try:
        ray.get(actor.ready.remote())
        asked = {RAY_NAMES[option]: amount for option, amount in resources.items()}
        wait_until_free({name: amount - asked.get(name, 0.0) for name, amount in free.items()})
        yield
    finally:
        ray.kill(actor)


def place(node_id: str, cpus: float = 0, gpus: float = 0, memory_bytes: int = 0) -> WorkerPlace:
    return WorkerPlace(node_id, cpus, gpus, memory_bytes)


def lacking(**places: WorkerPlace) -> dict[str, frozenset[str]]:
    """Ask, and wait until the reservations are given back: Ray does that on its own time."""
    free = free_now()
    found = lacking_room(places, timeout_seconds=2.0)
    wait_until_free(free)
    return found


def test_on_a_free_cluster_nobody_lacks_anything_and_all_is_given_back(nodes: TwoNodes) -> None:
    for _ in range(3):
        assert lacking(a=place(nodes.head, 3, 1, 1000 * MIB), b=place(nodes.other, 2)) == {}
    assert lacking(a=place(nodes.head), b=place(nodes.other)) == {}, "who asks for nothing fits"


def test_what_others_hold_is_lacking_by_resource_and_by_node(nodes: TwoNodes) -> None:
    with held(nodes.other, num_cpus=1, memory=1000 * MIB):
        asked = {"a": place(nodes.other, 1, 0, 100 * MIB), "b": place(nodes.other, 2)}
        assert lacking(a=asked["a"]) == {"a": {MEMORY}}
        assert lacking(b=asked["b"]) == {"b": {CPUS}}
        assert lacking(a=place(nodes.head, 1, 0, 100 * MIB), b=place(nodes.other, 1)) == {}


def test_parts_of_a_gpu_are_never_put_together_from_what_others_leave(nodes: TwoNodes) -> None:
    with held(nodes.head, num_gpus=0.5, num_cpus=0):
        assert lacking(a=place(nodes.head, 1, 0.5)) == {}
        assert lacking(a=place(nodes.head, 1, 0.6)) == {"a": {GPUS}}


def test_workers_compete_with_each_other_too(nodes: TwoNodes) -> None:
    found = lacking(**{f"env-{i}": place(nodes.other, 1) for i in range(3)})
    assert list(found.values()) == [{CPUS}]


def free_now() -> dict[str, float]:
    """Return what is free in the whole cluster, without the traces of reservations."""
    free: dict[str, float] = ray.available_resources()
    return {name: free.get(name, 0.0) for name in RAY_NAMES.values()}


def wait_until_free(wanted: dict[str, float]) -> None:
    deadline = time.monotonic() + BAR_SECONDS
    while (free := free_now()) != wanted:
        assert time.monotonic() < deadline, f"free are {free}, there should be {wanted}"
        time.sleep(0.1)


@dataclass(frozen=True)
class Refusal:
    code: int
    message: str
    seconds: float


def refused(nodes: TwoNodes, folder: Path, *settings: str) -> Refusal:
    """Start a training that must end with an error, and leave the cluster as it was."""
    where = [f"cluster.address={nodes.address}", f"logging.folder={folder}"]
    free_before = free_now()
    started = time.monotonic()
    answer = subprocess.run(
        [sys.executable, "-m", "rlightning.cli.main", "train", *SETTINGS, *where, *settings],
        capture_output=True,
        text=True,
        timeout=2 * SECONDS_OF_A_LOADED_MACHINE,
        check=False,
    )
    seconds = time.monotonic() - started
    assert list(folder.iterdir()) == [], "a run that did not begin leaves no folder"
    wait_until_free(free_before)
    assert "Traceback" not in answer.stderr
    print(f"refused after {seconds:.1f} s: {answer.stderr.strip()}")
    return Refusal(answer.returncode, answer.stderr, seconds)


def require_quick_error(refusal: Refusal, *texts: str) -> None:
    assert refusal.code == ExitCode.USAGE
    assert all(text in refusal.message for text in texts), refusal.message
    assert refusal.seconds < SECONDS_OF_A_LOADED_MACHINE


def test_B22_a_run_whose_room_others_hold_ends_with_worker_node_and_resource(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    with held(nodes.head, num_cpus=3), held(nodes.other, num_cpus=1):
        refusal = refused(nodes, tmp_path, "env.num_workers=2", "policy.num_eval_policies=1")
    require_quick_error(
        refusal,
        f"env-0 finds no 1 CPU on {nodes.head}: others hold it",
        "missing in sum: 2 CPUs",
    )


def test_a_node_that_manual_placement_names_and_others_hold_is_named(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    manual = f"cluster.placement.manual={{{nodes.other}: {{env: 2}}}}"
    with held(nodes.other, num_cpus=2):
        refusal = refused(
            nodes, tmp_path, "env.num_workers=2", "policy.num_eval_policies=1",
            "routing.type=node_affinity", "cluster.placement.strategy=manual", manual,
        )  # fmt: skip
    require_quick_error(refusal, f"finds no 1 CPU on {nodes.other}: others hold it")


@pytest.mark.parametrize("entry", ["zone=nowhere", "n0"])
def test_manual_placement_on_a_node_that_is_not_there_is_refused(
    nodes: TwoNodes, tmp_path: Path, entry: str
) -> None:
    manual = f"cluster.placement.manual={{{entry}: {{env: 1}}}}"
    refusal = refused(
        nodes, tmp_path, "env.num_workers=1", "policy.num_eval_policies=1",
        "cluster.placement.strategy=manual", manual,
    )  # fmt: skip
    require_quick_error(refusal, entry)


def test_a_label_that_no_node_has_is_refused(nodes: TwoNodes, tmp_path: Path) -> None:
    refusal = refused(nodes, tmp_path, "cluster.placement.env={labels: {zone: b}}")
    require_quick_error(refusal, "label zone=b", nodes.head, nodes.other)
