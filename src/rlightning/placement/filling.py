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

    def put(
        self, shares: Sequence[Sequence[Counts]], pools: Sequence[Pool], *, with_hosts: bool
    ) -> None:
        """Give ids and GPUs to workers of some pools, the lowest ids to the first node.

        All of them together must fit on their node: what each pool leaves of a GPU depends on
        what the others take of it.

        Args:
            shares: For each pool, its workers on each node.
            pools: Whose ids are given out.
            with_hosts: Whether learners and buffers are among those of the first.
        """
        queues: list[Ids] = [
            {"env": list(pool.env_ids), "eval": list(pool.eval_ids)} for pool in pools
        ]
        if with_hosts:
            queues[0] |= {
                "train": list(self._request.train_ids),
                "buffer": list(self._request.buffer_ids),
            }
        for place, own in enumerate(zip(*shares, strict=True)):
            self._put_on_node(place, own, queues)

    def has_learner(self, place: int) -> bool:
        """Say whether a learner lives on a node."""
        return any(worker.component == "train" for worker in self._workers[place])

    def node_plans(self) -> tuple[NodePlan, ...]:
        """Return all nodes as they are now."""
        return tuple(
            NodePlan(node, tuple(sorted(workers, key=_order_of_worker)), left)
            for node, workers, left in zip(self._nodes, self._workers, self.left, strict=True)
        )

    def _put_on_node(self, place: int, shares: Sequence[Counts], queues: Sequence[Ids]) -> None:
        node = self.left[place]
        counts = Counts(*map(sum, zip(*shares, strict=True)))
        demands = demands_in_order(self._request)
        gpus = GpuDemands.of(demands)
        layout = gpus_of_workers(node.gpu_shares, gpus, counts)
        for kind, component in enumerate(COMPONENT_ORDER):
            ids = [
                queue[component].pop(0)
                for share, queue in zip(shares, queues, strict=True)
                for _ in range(share[kind])
            ]
            for worker_id, own_gpus in zip(ids, layout[kind], strict=True):
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
