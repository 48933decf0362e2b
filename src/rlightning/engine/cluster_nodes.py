"""The nodes that a run would find."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from rlightning.config.cluster_config import ClusterConfig
from rlightning.engine.ray_extra import needs_ray
from rlightning.errors import PlacementError
from rlightning.placement.node import WHOLE, Node
from rlightning.placement.request import PlacementRequest
from rlightning.placement.resource_manager import LOCAL_NODE_ID


@dataclass(frozen=True, slots=True)
class FoundNodes:
    """Nodes, and what a person should know about them.

    Attributes:
        nodes: What there is.
        notes: One sentence each.
    """

    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()


NodeFinder = Callable[[ClusterConfig, PlacementRequest], FoundNodes]


def this_machine(cluster: ClusterConfig, request: PlacementRequest) -> FoundNodes:
    """Return the machine that this process runs on.

    Workers of one machine take turns, so CPUs never run out; a note tells if there are fewer than
    are asked for.
    """
    real = Fraction(os.cpu_count() or 1)
    asked = sum(
        (n * request.demand(component).cpus for component, n in request.counts._asdict().items()),
        Fraction(0),
    )
    node = Node(LOCAL_NODE_ID, max(real, asked), (WHOLE,) * _num_gpus(), _memory_bytes())
    note = f"the workers ask for {float(asked):g} CPUs, this machine has {real}: they take turns"
    return FoundNodes((node,), (note,) if asked > real else ())


def nodes_of_ray(cluster: ClusterConfig, request: PlacementRequest) -> FoundNodes:
    """Return the nodes of the Ray that this process uses, of the one at `address`, or to start.

    Raises:
        MissingExtraError: If Ray is not installed.
        WorkerError: If the cluster cannot be joined.
    """
    with needs_ray():
        from rlightning.runtime.ray.nodes import (  # noqa: PLC0415 - an extra
            cluster_nodes,
            is_connected,
            nodes_at,
        )
    if is_connected():
        return FoundNodes(cluster_nodes())
    if cluster.address is not None:
        return FoundNodes(nodes_at(cluster.address))
    found = this_machine(cluster, request)
    if cluster.num_cpus is None:
        return found
    (node,) = found.nodes
    return FoundNodes((replace(node, cpus=Fraction(cluster.num_cpus)),))


FINDERS: dict[str, NodeFinder] = {"in_process": this_machine, "ray": nodes_of_ray}
"""How the nodes are found, by ``cluster.backend``."""


def find_nodes(cluster: ClusterConfig, request: PlacementRequest) -> FoundNodes:
    """Return the nodes that a run with this configuration would have.

    Args:
        cluster: Says where the run would live.
        request: The workers that shall be placed.

    Raises:
        PlacementError: If nodes of this backend cannot be looked for.
    """
    if cluster.backend not in FINDERS:
        raise PlacementError(
            f"expected a backend whose nodes can be found ({', '.join(FINDERS)}), got "
            f"{cluster.backend!r}; describe the nodes with --nodes"
        )
    return FINDERS[cluster.backend](cluster, request)


def _num_gpus() -> int:
    import torch  # noqa: PLC0415 - loads slowly, and only a found machine needs it

    return torch.cuda.device_count()


def _memory_bytes() -> int | None:
    """Return the memory of this machine, None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
