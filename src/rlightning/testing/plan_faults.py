"""What is wrong with a plan of placement, found by counting anew."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rlightning.placement.node import WHOLE
from rlightning.placement.plan import NodePlan, Plan
from rlightning.placement.request import Demand, PlacementRequest


def plan_faults(plan: Plan) -> list[str]:
    """Return a line for each node that is asked too much, and for each worker without one place."""
    placed = sorted((worker.component, worker.worker_id) for worker in plan.workers)
    faults = [] if placed == sorted(_asked(plan.request)) else [f"placed are {placed}"]
    for node_plan in plan.nodes:
        used = [
            (plan.request.demand(worker.component), worker.gpu_indices)
            for worker in node_plan.workers
        ]
        faults += [f"{node_plan.node.node_id}: {fault}" for fault in _node_faults(node_plan, used)]
    return faults


def _asked(request: PlacementRequest) -> Iterator[tuple[str, int]]:
    for pool in request.pools:
        yield from (("env", own) for own in pool.env_ids)
        yield from (("eval", own) for own in pool.eval_ids)
    yield from (("train", own) for own in request.train_ids)
    yield from (("buffer", own) for own in request.buffer_ids)


def _node_faults(node_plan: NodePlan, used: list[tuple[Demand, tuple[int, ...]]]) -> Iterator[str]:
    node = node_plan.node
    cpus = sum((demand.cpus for demand, _ in used), Fraction(0))
    memory_bytes = sum(demand.memory_bytes for demand, _ in used)
    if cpus > node.cpus:
        yield f"{cpus} of {node.cpus} CPUs"
    if node.memory_bytes is not None and memory_bytes > node.memory_bytes:
        yield f"{memory_bytes} of {node.memory_bytes} bytes"
    if node_plan.left.cpus != node.cpus - cpus:
        yield f"{node_plan.left.cpus} CPUs are said to be left"
    shares = [Fraction(0)] * len(node.gpu_shares)
    for demand, gpu_indices in used:
        if not demand.is_allowed_on(node):
            yield f"a worker that wants {demand.accelerator_type}, {dict(demand.labels)}"
        if len(gpu_indices) != max(demand.num_whole_gpus, demand.gpus > 0):
            yield f"{len(gpu_indices)} devices for {demand.gpus} GPUs"
        for index in gpu_indices:
            shares[index] += min(demand.gpus, WHOLE)
    for index, (taken, share) in enumerate(zip(shares, node.gpu_shares, strict=True)):
        if taken > share:
            yield f"{taken} of {share} of GPU {index}"
