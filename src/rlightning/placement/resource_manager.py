"""Where every worker of a run belongs, and where it really is."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rlightning.errors import PlacementError
from rlightning.placement.merged_pools import choose_replicas
from rlightning.placement.node import Node
from rlightning.placement.plan import ComponentDistribution, NodePlan, PlacedWorker, Plan
from rlightning.placement.pool_members import is_in, with_worker, without_worker
from rlightning.placement.replanning import choose_place, free_on
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.placement.worker_names import worker_name

LOCAL_NODE_ID = "local"
"""Name of the one node of a run within one process."""

SMALLEST_SHARE = Fraction(1, 10_000)
"""Unit in which schedulers count CPUs and GPUs."""


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """What a worker is to be started with.

    Attributes:
        node_id: Its node.
        num_cpus: CPUs that are kept for it, rounded down to a ten thousandth.
        num_gpus: Likewise of GPUs, so that nine ninths still fit on one.
        memory_bytes: Memory that is kept for it.
    """

    node_id: str
    num_cpus: float
    num_gpus: float
    memory_bytes: int


class GlobalResourceManager:
    """Owns the plan of a run, and keeps it true while workers die and come back elsewhere.

    Workers are named as they are started: ``env-0``, ``eval-1``, ``learner-0``. It decides and
    remembers, and starts nothing. Thread-safe.

    Args:
        plan: Who shall live where.
    """

    def __init__(self, plan: Plan) -> None:
        self._request = plan.request
        self._node_order = [node_plan.node.node_id for node_plan in plan.nodes]
        self._lock = threading.Lock()
        self._placed = {worker_name(w.component, w.worker_id): w for w in plan.workers}
        self._real: dict[str, str] = {}

    @classmethod
    def on_one_node(
        cls, request: PlacementRequest, node_id: str = LOCAL_NODE_ID
    ) -> GlobalResourceManager:
        """Return the manager of a run whose workers all share one node, however much they ask."""
        ids = {
            "train": request.train_ids,
            "buffer": request.buffer_ids,
            "eval": [i for pool in request.pools for i in pool.eval_ids],
            "env": [i for pool in request.pools for i in pool.env_ids],
        }
        workers = tuple(
            PlacedWorker(c, number, node_id) for c, own in ids.items() for number in own
        )
        node = Node.of(node_id, 0)
        return cls(Plan("one node", request, (NodePlan(node, workers, node),)))

    @property
    def request(self) -> PlacementRequest:
        """The workers that there are now, and what each asks for."""
        return self._request

    def replica_ids_of_pools(self) -> list[list[str]]:
        """Return the names of the replicas of each pool."""
        return [[worker_name("eval", own) for own in pool.eval_ids] for pool in self.pools]

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Environment workers and their replicas, by kind of environment."""
        return self._request.pools

    def place_of(self, worker_id: str) -> WorkerPlace | None:
        """Return where and with what a worker is to be started, None for one without a plan."""
        placed = self._placed.get(worker_id)
        if placed is None:
            return None
        demand = self._request.demand(placed.component)
        return WorkerPlace(
            placed.node_id,
            rounded_down(demand.cpus),
            rounded_down(demand.gpus),
            demand.memory_bytes,
        )

    def node_of(self, worker_id: str) -> str | None:
        """Return the node on which a worker is, or else shall be; None if it is not known. O(1)."""
        real = self._real.get(worker_id)
        if real is not None:
            return real
        placed = self._placed.get(worker_id)
        return None if placed is None else placed.node_id

    def record(self, worker_id: str, node_id: str | None) -> None:
        """Hear on which node a worker really is; None: its runtime does not tell.

        Raises:
            PlacementError: If that is not the planned one.
        """
        with self._lock:
            planned = self._placed.get(worker_id)
            if node_id is None:
                return
            self._real[worker_id] = node_id
        if planned is not None and planned.node_id != node_id:
            raise PlacementError(
                f"expected worker {worker_id!r} on node {planned.node_id!r}, as planned, got it on "
                f"{node_id!r}; look whether the planned node is alive and takes workers, then "
                "start the run again"
            )

    def settle_pools(self, env_ids_of_pools: Sequence[Sequence[int]]) -> None:
        """Hear which environment workers share replicas, once environments have told their kinds.

        Kinds that were planned apart may turn out to be one. It then has as many replicas as one
        kind, on some of the planned places.
        """
        with self._lock:
            if [sorted(ids) for ids in env_ids_of_pools] == [
                sorted(pool.env_ids) for pool in self.pools
            ]:
                return
            num_replicas = min((len(pool.eval_ids) for pool in self.pools), default=0)
            pools = tuple(
                Pool(tuple(ids), tuple(range(n * num_replicas, (n + 1) * num_replicas)))
                for n, ids in enumerate(env_ids_of_pools)
            )
            chosen = [replica for pool in pools for replica in self._chosen_for(pool)]
            self._placed = {
                name: worker for name, worker in self._placed.items() if worker.component != "eval"
            }
            self._placed |= {worker_name("eval", own.worker_id): own for own in chosen}
            self._request = replace(self._request, pools=pools)

    def choose_node(self, worker_id: str, nodes: Sequence[Node]) -> str:
        """Return the node for a restart: its own while that is there, else one that has room.

        Args:
            worker_id: Who is to be started again, or for the first time after `add_replica`.
            nodes: Living nodes with all that this run may use on them.

        Raises:
            PlacementError: If the worker is not known, or no node has room for it.
        """
        with self._lock:
            worker = self._known(worker_id)
            if all(node.node_id != worker.node_id for node in nodes):
                worker = self._planned_anew(worker, nodes)
                self._placed[worker_id] = worker
                self._real.pop(worker_id, None)
            return worker.node_id

    def add_replica(self, pool_number: int, nodes: Sequence[Node]) -> str:
        """Plan one more replica of a pool; return its name.

        Raises:
            PlacementError: If no node has room for it.
        """
        with self._lock:
            used = [w.worker_id for w in self._placed.values() if w.component == "eval"]
            return self._add(
                PlacedWorker("eval", max(used, default=-1) + 1, ""), pool_number, nodes
            )

    def add_environment(self, worker_index: int, pool_number: int, nodes: Sequence[Node]) -> str:
        """Plan one more environment worker, served by the replicas of a pool; return its name.

        Raises:
            PlacementError: If no node has room for it.
        """
        with self._lock:
            return self._add(PlacedWorker("env", worker_index, ""), pool_number, nodes)

    def _add(self, worker: PlacedWorker, pool_number: int, nodes: Sequence[Node]) -> str:
        pools = list(self.pools)
        pools[pool_number] = with_worker(pools[pool_number], worker)
        former, self._request = self._request, replace(self._request, pools=tuple(pools))
        try:
            placed = self._planned_anew(worker, nodes)
        except PlacementError:
            self._request = former
            raise
        name = worker_name(worker.component, worker.worker_id)
        self._placed[name] = placed
        return name

    def forget(self, worker_id: str) -> None:
        """Hear that a worker is gone for good: what it had is free."""
        with self._lock:
            gone = self._placed.pop(worker_id, None)
            self._real.pop(worker_id, None)
            if gone is not None:
                pools = tuple(without_worker(pool, gone) for pool in self.pools)
                self._request = replace(self._request, pools=pools)

    def get_component_distribution(self, pool_number: int | None = None) -> ComponentDistribution:
        """Return who lives on which node, as the routers read it.

        Args:
            pool_number: Tell only of the workers of this pool, its replicas numbered from 0.
        """
        with self._lock:
            workers = tuple(
                replace(worker, node_id=self.node_of(name) or worker.node_id)
                for name, worker in self._placed.items()
            )
            request = self._request
        extra = dict.fromkeys(w.node_id for w in workers if w.node_id not in self._node_order)
        nodes = tuple(
            NodePlan(node, tuple(w for w in workers if w.node_id == node.node_id), node)
            for node in (Node.of(node_id, 0) for node_id in [*self._node_order, *extra])
        )
        pool = None if pool_number is None else request.pools[pool_number]
        return Plan("present", request, nodes).component_distribution(pool)

    def of_pool(self, pool_number: int) -> PoolResources:
        """Return what the routers of one pool ask."""
        return PoolResources(self, pool_number)

    def _known(self, worker_id: str) -> PlacedWorker:
        placed = self._placed.get(worker_id)
        if placed is None:
            known = ", ".join(self._placed)
            raise PlacementError(
                f"expected a worker of this run, got {worker_id!r}; there are {known}"
            )
        return placed

    def _planned_anew(self, worker: PlacedWorker, nodes: Sequence[Node]) -> PlacedWorker:
        own = worker_name(worker.component, worker.worker_id)
        others = [other for name, other in self._placed.items() if name != own]
        free = [
            free_on(node, [w for w in others if w.node_id == node.node_id], self._request)
            for node in nodes
        ]
        neighbours = [w for w in others if self._shares_pool(worker, w)]
        return choose_place(worker, neighbours, free, self._request)

    def _shares_pool(self, worker: PlacedWorker, other: PlacedWorker) -> bool:
        return any(is_in(pool, worker) and is_in(pool, other) for pool in self.pools)

    def _chosen_for(self, pool: Pool) -> list[PlacedWorker]:
        parts = [own for own in self.pools if set(own.env_ids) & set(pool.env_ids)]
        eval_ids = {eval_id for own in parts for eval_id in own.eval_ids}
        workers = self._placed.values()
        environments = [w for w in workers if w.component == "env" and w.worker_id in pool.env_ids]
        planned = [w for w in workers if w.component == "eval" and w.worker_id in eval_ids]
        return choose_replicas(environments, planned, pool.eval_ids)


@dataclass(frozen=True, slots=True)
class PoolResources:
    """The part of a manager that concerns one pool.

    Attributes:
        manager: Of all pools.
        pool_number: In the order of `GlobalResourceManager.pools`.
    """

    manager: GlobalResourceManager
    pool_number: int

    def get_component_distribution(self) -> ComponentDistribution:
        """Return who lives on which node, the replicas of the pool numbered from 0."""
        return self.manager.get_component_distribution(self.pool_number)


def rounded_down(amount: Fraction) -> float:
    """Return an amount in whole ten thousandths, never more than it was."""
    return float(amount // SMALLEST_SHARE * SMALLEST_SHARE)
