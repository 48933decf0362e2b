"""Who lives where, and what stays free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rlightning.placement.node import Node
from rlightning.placement.request import PlacementRequest, Pool

ComponentDistribution = dict[str, dict[str, dict[str, Any]]]
"""``{node_id: {component: {"count": int, "ids": [int, …]}}}``, as the routers read it."""


@dataclass(frozen=True)
class PlacedWorker:
    """One worker on its node.

    Attributes:
        component: ``env``, ``eval``, ``train`` or ``buffer``.
        worker_id: 0-based, unique among the workers of its component.
        node_id: Where it lives.
        gpu_indices: GPUs of the node that the plan counts it on; the scheduler of a cluster
            chooses devices itself.
    """

    component: str
    worker_id: int
    node_id: str
    gpu_indices: tuple[int, ...] = ()


@dataclass(frozen=True)
class NodePlan:
    """One node of a plan.

    Attributes:
        node: What it had to give.
        workers: Who lives there, in order of component and id.
        left: The same node with what stays free.
    """

    node: Node
    workers: tuple[PlacedWorker, ...]
    left: Node

    def ids(self, component: str) -> list[int]:
        """Return the ids of a component's workers on this node, in ascending order."""
        return sorted(w.worker_id for w in self.workers if w.component == component)


@dataclass(frozen=True)
class Plan:
    """A place for every worker of a run; no node is above its capacity.

    Attributes:
        strategy: Name of the strategy that made it.
        request: What was asked for.
        nodes: All nodes, in the order in which they were given.
    """

    strategy: str
    request: PlacementRequest
    nodes: tuple[NodePlan, ...]

    @property
    def workers(self) -> tuple[PlacedWorker, ...]:
        """All workers, node by node."""
        return tuple(worker for node_plan in self.nodes for worker in node_plan.workers)

    @property
    def nodes_left(self) -> tuple[Node, ...]:
        """All nodes with what stays free, for placing more workers later."""
        return tuple(node_plan.left for node_plan in self.nodes)

    def node_of(self, component: str, worker_id: int) -> str:
        """Return the node id of a worker.

        Raises:
            KeyError: If the plan has no such worker.
        """
        return self._node_ids[component, worker_id]

    @cached_property
    def _node_ids(self) -> dict[tuple[str, int], str]:
        return {(w.component, w.worker_id): w.node_id for w in self.workers}

    def component_distribution(self, pool: Pool | None = None) -> ComponentDistribution:
        """Return who lives on which node, as the routers read it; only what is present appears.

        Args:
            pool: Tell only of the workers of this pool, with its replicas numbered from 0, which
                is what the router of one pool needs; None: of all workers.
        """
        distribution: ComponentDistribution = {}
        for worker in sorted(self.workers, key=lambda worker: worker.worker_id):
            worker_id = worker.worker_id if pool is None else _id_in_pool(worker, pool)
            if worker_id is None:
                continue
            entry = distribution.setdefault(worker.node_id, {}).setdefault(
                worker.component, {"count": 0, "ids": []}
            )
            entry["ids"].append(worker_id)
            entry["count"] += 1
        order = [n.node.node_id for n in self.nodes if n.node.node_id in distribution]
        return {node_id: distribution[node_id] for node_id in order}


def _id_in_pool(worker: PlacedWorker, pool: Pool) -> int | None:
    """Return the number that the pool's router knows a worker by, None for one of another pool."""
    if worker.component == "env":
        return worker.worker_id if worker.worker_id in pool.env_ids else None
    if worker.component == "eval":
        is_member = worker.worker_id in pool.eval_ids
        return pool.eval_ids.index(worker.worker_id) if is_member else None
    return worker.worker_id
