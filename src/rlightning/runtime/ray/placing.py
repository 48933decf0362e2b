"""Where an actor may run, and what to say if it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlightning.errors import WorkerError
from rlightning.registry import did_you_mean
from rlightning.runtime.base import WorkerSpec

AMOUNT_FORMAT = ".6g"


@dataclass(frozen=True, slots=True)
class Node:
    """A living machine of the cluster.

    Attributes:
        node_id: As Ray names it.
        resources: All that it offers, by Ray's names.
    """

    node_id: str
    resources: Mapping[str, float]


def living_nodes() -> list[Node]:
    """Return the machines of the cluster that are alive."""
    return [
        Node(str(node["NodeID"]), dict(node["Resources"]))
        for node in ray.nodes()  # type: ignore[no-untyped-call]
        if node["Alive"]
    ]


def demand_of(spec: WorkerSpec) -> dict[str, float]:
    """Return what a worker needs, by Ray's names of resources."""
    wanted = {"CPU": spec.num_cpus, "GPU": spec.num_gpus, "memory": float(spec.memory_bytes)}
    return {name: amount for name, amount in wanted.items() if amount}


def actor_options(spec: WorkerSpec) -> dict[str, Any]:
    """Return the options with which an actor of this worker is made.

    A node is kept to without exception, also by a worker that asks for no resources.
    """
    options: dict[str, Any] = {
        "num_cpus": spec.num_cpus,
        "num_gpus": spec.num_gpus,
        "max_restarts": 0,
        "max_task_retries": 0,
        "enable_task_events": False,
    }
    if spec.memory_bytes:
        options["memory"] = spec.memory_bytes
    if spec.node_id is not None:
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(spec.node_id, soft=False)
    return options


def check_can_ever_run(spec: WorkerSpec) -> None:
    """Refuse a worker that no machine could take, however idle.

    Raises:
        WorkerError: If its node is unknown or dead, or too small; names what is missing.
    """
    nodes = {node.node_id: node for node in living_nodes()}
    if spec.node_id is not None and spec.node_id not in nodes:
        raise WorkerError(
            f"expected a living node for worker {spec.worker_id!r}, got {spec.node_id!r}"
            f"{did_you_mean(spec.node_id, nodes)}; there are {', '.join(nodes) or 'none'}",
            worker_id=spec.worker_id,
        )
    allowed = [nodes[spec.node_id]] if spec.node_id is not None else list(nodes.values())
    shortages = {node.node_id: _shortage(demand_of(spec), node.resources) for node in allowed}
    if shortages and all(shortages.values()):
        lines = [f"{node_id} lacks {text}" for node_id, text in shortages.items()]
        raise WorkerError(
            f"expected a node that can hold worker {spec.worker_id!r}, which needs "
            f"{amounts(demand_of(spec))}, but node {'; node '.join(lines)} even when idle; "
            "ask for less, or add a node",
            worker_id=spec.worker_id,
        )


def no_room(spec: WorkerSpec, placed: Iterable[WorkerSpec]) -> WorkerError:
    """Return the error of a worker whose room this run or somebody else holds.

    Args:
        spec: Of the worker.
        placed: Those of this run that are there, or have room, each with its node.
    """
    return WorkerError(
        f"expected room for worker {spec.worker_id!r}, which needs {amounts(demand_of(spec))}, "
        f"but {_room_of(spec, placed)}; ask for less, free what is taken, or add a node",
        worker_id=spec.worker_id,
    )


def never_arrived(
    spec: WorkerSpec, placed: Iterable[WorkerSpec], timeout_seconds: float
) -> WorkerError:
    """Return the error of a worker whose process did not start in time.

    Args:
        spec: Of the worker.
        placed: Those that were started before, each with the node on which it is.
        timeout_seconds: How long was waited.
    """
    where = "a node" if spec.node_id is None else f"node {spec.node_id}"
    return WorkerError(
        f"expected worker {spec.worker_id!r} to start on {where} within {timeout_seconds:g} s; it "
        f"needs {amounts(demand_of(spec)) or 'no resources'}, but {_room_of(spec, placed)}; ask "
        "for less, free what is taken, or raise cluster.start_timeout_seconds",
        worker_id=spec.worker_id,
    )


def _room_of(spec: WorkerSpec, placed: Iterable[WorkerSpec]) -> str:
    placed, demand = list(placed), demand_of(spec)
    lines = [
        _room_on(node, demand, [p for p in placed if p.node_id == node.node_id])
        for node in living_nodes()
        if spec.node_id in (None, node.node_id)
    ]
    free = amounts(_free_now()) or "nothing"
    return f"{'; '.join(lines) or 'no node is alive'}; free in the whole cluster: {free}"


def _room_on(node: Node, demand: Mapping[str, float], placed: list[WorkerSpec]) -> str:
    taken: dict[str, float] = {}
    for other in placed:
        for name, amount in demand_of(other).items():
            taken[name] = taken.get(name, 0.0) + amount
    left = {name: amount - taken.get(name, 0.0) for name, amount in node.resources.items()}
    missing = _shortage(demand, left)
    holders = ", ".join(p.worker_id for p in placed if demand_of(p)) or "none of this run"
    if missing:
        return f"node {node.node_id} lacks {missing} (taken by {holders})"
    return (
        f"node {node.node_id} has room beside what this run has there (of: {holders}), so others "
        "hold it, or its process did not come up"
    )


def _shortage(demand: Mapping[str, float], offered: Mapping[str, float]) -> str:
    return ", ".join(
        f"{amounts({name: amount})} (it offers {offered.get(name, 0.0):{AMOUNT_FORMAT}})"
        for name, amount in demand.items()
        if amount > offered.get(name, 0.0) + 1e-9
    )


def _free_now() -> dict[str, float]:
    free: Mapping[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    return {name: free[name] for name in ("CPU", "GPU", "memory") if name in free}


def amounts(resources: Mapping[str, float]) -> str:
    """Return amounts of resources as text, such as ``CPU 2, GPU 0.5``."""
    return ", ".join(f"{name} {amount:{AMOUNT_FORMAT}}" for name, amount in resources.items())
