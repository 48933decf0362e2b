"""The machines of a Ray cluster, as the planner sees them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import ray

from rlightning.placement.node import WHOLE, Node
from rlightning.runtime.ray.session import RaySession, RaySettings

_ACCELERATOR = "accelerator_type:"


def is_connected() -> bool:
    """Return whether this process is connected to a Ray."""
    return bool(ray.is_initialized())


def nodes_at(address: str) -> tuple[Node, ...]:
    """Return the living machines of a running cluster; the connection does not last.

    Raises:
        WorkerError: If the cluster cannot be joined.
    """
    session = RaySession(RaySettings(address=address))
    session.enter()
    try:
        return cluster_nodes()
    finally:
        session.leave()


def cluster_nodes() -> tuple[Node, ...]:
    """Return the living machines with all that they offer, in order of their ids.

    What others use on them is not taken off: Ray tells it for the whole cluster only.
    """
    alive = [_node(entry) for entry in ray.nodes() if entry["Alive"]]  # type: ignore[no-untyped-call]
    return tuple(sorted(alive, key=lambda node: node.node_id))


def _node(entry: Mapping[str, Any]) -> Node:
    resources: Mapping[str, float] = entry["Resources"]
    accelerators = [n.removeprefix(_ACCELERATOR) for n in resources if n.startswith(_ACCELERATOR)]
    memory = resources.get("memory")
    return Node(
        node_id=str(entry["NodeID"]),
        cpus=Fraction(resources.get("CPU", 0.0)).limit_denominator(10_000),
        gpu_shares=(WHOLE,) * int(resources.get("GPU", 0.0)),
        memory_bytes=None if memory is None else int(memory),
        accelerator_type=accelerators[0] if accelerators else None,
        labels={str(name): str(value) for name, value in entry.get("Labels", {}).items()},
    )
