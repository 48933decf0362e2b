"""What others hold of the nodes, as far as it shows in workers that found no room."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rlightning.config.quantities import bytes_text
from rlightning.placement.lack import amount_text
from rlightning.placement.node import WHOLE, Node
from rlightning.placement.plan import NodePlan, PlacedWorker, Plan
from rlightning.placement.request import Demand
from rlightning.placement.worker_names import worker_name

CPUS, GPUS, MEMORY = "CPUs", "GPUs", "memory"
"""Names of the resources that a worker may lack."""

Lacks = Mapping[str, Collection[str]]
"""Workers by name that found no room on their planned nodes, each with what they lacked."""


@dataclass(frozen=True)
class TakenNode:
    """A node of which others hold a part.

    Attributes:
        node: With what is certainly free, no more.
        shortages: One sentence for each worker that found no room.
    """

    node: Node
    shortages: tuple[str, ...]


def taken_nodes(plan: Plan, lacks: Lacks) -> Iterator[TakenNode]:
    """Yield the nodes on which a worker lacked something.

    Of what lacked, free is what the other planned workers found; of the rest, what it was.
    """
    for node_plan in plan.nodes:
        lacking = {w: lacks[own_name(w)] for w in node_plan.workers if own_name(w) in lacks}
        if lacking:
            shortages = tuple(_shortage(plan, worker, what) for worker, what in lacking.items())
            yield TakenNode(_free_node(plan, node_plan, lacking), shortages)


def with_taken(nodes: Sequence[Node], taken: Sequence[TakenNode]) -> tuple[Node, ...]:
    """Return the nodes with what is free of those of which others hold a part."""
    free = {each.node.node_id: each.node for each in taken}
    return tuple(free.get(node.node_id, node) for node in nodes)


def own_name(worker: PlacedWorker) -> str:
    """Return the name with which a worker is started."""
    return worker_name(worker.component, worker.worker_id)


def _free_node(
    plan: Plan, node_plan: NodePlan, lacking: Mapping[PlacedWorker, Collection[str]]
) -> Node:
    node = node_plan.node
    what = {resource for own in lacking.values() for resource in own}
    found = [
        (plan.request.demand(worker.component), worker.gpu_indices)
        for worker in node_plan.workers
        if worker not in lacking
    ]
    if CPUS in what:
        node = replace(node, cpus=sum((demand.cpus for demand, _ in found), Fraction(0)))
    if MEMORY in what:
        node = replace(node, memory_bytes=sum(demand.memory_bytes for demand, _ in found))
    if GPUS in what:
        node = replace(node, gpu_shares=_found_shares(len(node.gpu_shares), found))
    return node


def _found_shares(
    num_gpus: int, found: Sequence[tuple[Demand, tuple[int, ...]]]
) -> tuple[Fraction, ...]:
    shares = [Fraction(0)] * num_gpus
    for demand, gpu_indices in found:
        for index in gpu_indices:
            shares[index] += min(demand.gpus, WHOLE)
    return tuple(shares)


def _shortage(plan: Plan, worker: PlacedWorker, what: Collection[str]) -> str:
    demand = plan.request.demand(worker.component)
    asked = {
        CPUS: amount_text(demand.cpus, "CPU"),
        GPUS: amount_text(demand.gpus, "GPU"),
        MEMORY: bytes_text(demand.memory_bytes),
    }
    missing = ", ".join(text for resource, text in asked.items() if resource in what)
    return f"{own_name(worker)} finds no {missing} on {worker.node_id}: others hold it"
