"""Fill nodes with numbered workers, part after part, and keep what stays free."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rlightning.placement.gpu_layout import gpus_of_workers, shares_left
from rlightning.placement.gpu_room import GpuDemands
from rlightning.placement.node import Node
from rlightning.placement.node_room import COMPONENT_ORDER, demands_in_order
from rlightning.placement.plan import NodePlan, PlacedWorker
from rlightning.placement.request import Counts, PlacementRequest, Pool

Ids = dict[str, list[int]]


class Filling:
    """Nodes that are being filled.

    Args:
        nodes: What there is.
        request: Says what each worker asks for.
    """

    def __init__(self, nodes: Sequence[Node], request: PlacementRequest) -> None:
        self._request = request
        self._nodes = tuple(nodes)
        self._workers: list[list[PlacedWorker]] = [[] for _ in nodes]
        self.left = list(nodes)
        """Each node with what is still free."""

    def put(self, counts: Sequence[Counts], pool: Pool, *, with_hosts: bool) -> None:
        """Give ids and GPUs to workers of a pool, the lowest ids to the first node.

        Args:
            counts: Workers of this pool on each node; they must fit.
            pool: Whose ids are given out.
            with_hosts: Whether learners and buffers are among them.
        """
        ids: Ids = {"env": list(pool.env_ids), "eval": list(pool.eval_ids)}
        if with_hosts:
            ids |= {
                "train": list(self._request.train_ids),
                "buffer": list(self._request.buffer_ids),
            }
        for place, own in enumerate(counts):
            self._put_on_node(place, own, ids)

    def has_learner(self, place: int) -> bool:
        """Say whether a learner lives on a node."""
        return any(worker.component == "train" for worker in self._workers[place])

    def node_plans(self) -> tuple[NodePlan, ...]:
        """Return all nodes as they are now."""
        return tuple(
            NodePlan(node, tuple(sorted(workers, key=_order_of_worker)), left)
            for node, workers, left in zip(self._nodes, self._workers, self.left, strict=True)
        )

    def _put_on_node(self, place: int, counts: Counts, ids: Ids) -> None:
        node = self.left[place]
        demands = demands_in_order(self._request)
        gpus = GpuDemands.of(demands)
        layout = gpus_of_workers(node.gpu_shares, gpus, counts)
        for component, count, indices in zip(COMPONENT_ORDER, counts, layout, strict=True):
            for position in range(count):
                worker_id = ids[component].pop(0)
                own_gpus = indices[position] if indices else ()
                self._workers[place].append(
                    PlacedWorker(component, worker_id, node.node_id, own_gpus)
                )
        used = list(zip(counts, demands, strict=True))
        memory = node.memory_bytes
        self.left[place] = dataclasses.replace(
            node,
            cpus=node.cpus - sum(n * demand.cpus for n, demand in used),
            memory_bytes=memory and memory - sum(n * demand.memory_bytes for n, demand in used),
            gpu_shares=shares_left(node.gpu_shares, gpus, layout),
        )


def _order_of_worker(worker: PlacedWorker) -> tuple[int, int]:
    return COMPONENT_ORDER.index(worker.component), worker.worker_id
