"""A node for one worker of a run whose other workers stay where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rlightning.errors import PlacementError
from rlightning.placement.node import WHOLE, Node
from rlightning.placement.plan import PlacedWorker
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest, Pool


def free_on(node: Node, workers: Iterable[PlacedWorker], request: PlacementRequest) -> Node:
    """Return a node with what workers of a run leave free; never less than nothing."""
    cpus, memory, gpu_shares = node.cpus, node.memory_bytes, list(node.gpu_shares)
    for worker in workers:
        demand = request.demand(worker.component)
        cpus -= demand.cpus
        memory = memory and memory - demand.memory_bytes
        for gpu_index in worker.gpu_indices:
            gpu_shares[gpu_index] -= min(demand.gpus, WHOLE)
    return replace(
        node,
        cpus=max(cpus, Fraction(0)),
        memory_bytes=None if memory is None else max(memory, 0),
        gpu_shares=tuple(max(share, Fraction(0)) for share in gpu_shares),
    )


def choose_place(
    worker: PlacedWorker,
    neighbours: Sequence[PlacedWorker],
    nodes: Sequence[Node],
    request: PlacementRequest,
) -> PlacedWorker:
    """Return the worker with a node that has room for it.

    An environment worker goes where a replica of its pool has the fewest environment workers. A
    replica goes where the most environment workers have none; if all have one, where the most
    come on one, unless there are some whose node is lost and who will follow it. Among equals
    the node with more free CPUs, then the first one.

    Args:
        worker: Who needs a node; the one that it has is not looked at.
        neighbours: Environment workers and replicas of its pool, without itself.
        nodes: What is free now.
        request: Says what each worker asks for.

    Raises:
        PlacementError: If no node has room; it says what is missing where.
    """
    alone = _alone(worker, request)
    fits = [(node, own) for node in nodes if (own := _on(node, alone)) is not None]
    if not fits:
        raise _no_room(worker, nodes, alone)
    rank = _environment_rank if worker.component == "env" else _replica_rank
    around = _Neighbours.of(neighbours, nodes)
    return max(fits, key=lambda fit: (*rank(fit[0].node_id, around), fit[0].cpus))[1]


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """Environment workers and replicas of a pool by node, and whether some have lost theirs."""

    envs: Counter[str]
    replicas: Counter[str]
    has_lost: bool

    @classmethod
    def of(cls, neighbours: Sequence[PlacedWorker], nodes: Sequence[Node]) -> _Neighbours:
        envs = Counter(n.node_id for n in neighbours if n.component == "env")
        replicas = Counter(n.node_id for n in neighbours if n.component == "eval")
        return cls(envs, replicas, not envs.keys() <= {node.node_id for node in nodes})


def _environment_rank(node_id: str, around: _Neighbours) -> tuple[float, ...]:
    num_replicas = around.replicas[node_id]
    return (1.0, -around.envs[node_id] / num_replicas) if num_replicas else (0.0, 0.0)


def _replica_rank(node_id: str, around: _Neighbours) -> tuple[float, ...]:
    num_envs, num_replicas = around.envs[node_id], around.replicas[node_id]
    if not num_replicas:
        return (num_envs, 0.0)
    return (0.0, 0.0 if around.has_lost else num_envs / (num_replicas + 1))


def _alone(worker: PlacedWorker, request: PlacementRequest) -> PlacementRequest:
    """Return the request of this worker only."""
    ids = {worker.component: (worker.worker_id,)}
    return PlacementRequest(
        (Pool(ids.get("env", ()), ids.get("eval", ())),),
        ids.get("train", ()),
        ids.get("buffer", ()),
        request.demands,
    )


def _on(node: Node, request: PlacementRequest) -> PlacedWorker | None:
    try:
        (placed,) = plan_placement([node], request).workers
    except PlacementError:
        return None
    return placed


def _no_room(
    worker: PlacedWorker, nodes: Sequence[Node], request: PlacementRequest
) -> PlacementError:
    what = f"no node for worker {worker.component} {worker.worker_id} beside all others"
    try:
        plan_placement(nodes, request)
    except PlacementError as error:
        return PlacementError(f"{what}: {error}")
    return PlacementError(f"{what}; add a node")
