"""From nodes and workers to a plan. Pure: no clock, no thread, no cluster is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlightning.errors import PlacementError
from rlightning.placement.bundles import with_replicas_only
from rlightning.placement.filling import Filling
from rlightning.placement.group_fit import fit_onto_nodes
from rlightning.placement.node import Node, check_node_ids
from rlightning.placement.node_room import room_tables
from rlightning.placement.plan import Plan
from rlightning.placement.pool_split import split_over_pools
from rlightning.placement.request import Counts, PlacementRequest, Pool
from rlightning.placement.room_table import RoomTable
from rlightning.placement.shortage import shortage_error
from rlightning.placement.strategies.base import Strategy
from rlightning.placement.strategies.by_name import create_strategy
from rlightning.placement.strategies.manual import CountRanges, ManualStrategy


def plan_placement(
    nodes: Sequence[Node],
    request: PlacementRequest,
    strategy: str = "default",
    manual: CountRanges | None = None,
) -> Plan:
    """Return a place for every worker.

    Promises: no node above its capacity; the same input gives the same plan; a plan that exists
    for nodes exists for more nodes; with one kind of environment, every environment worker has a
    replica on its node whenever that is possible.

    O(n x entries of a node's room table) where the wishes of the strategy fit at once. Where room
    is so scarce that they do not, all ways are weighed, which costs n x entries of a node's table
    x replicas.

    Args:
        nodes: What the cluster has to give, free.
        request: Workers of the run.
        strategy: ``default``, ``pack``, ``colocate``, ``disaggregate`` or ``manual``.
        manual: Counts by node or label, for ``manual`` only.

    Raises:
        PlacementError: If there is no such plan; the message says what is missing where.
        ConfigError: If there is no such strategy.
    """
    check_node_ids(tuple(nodes))
    check_request(request)
    chosen = create_strategy(strategy, manual)
    return _Planner(tuple(nodes), request, chosen).plan()


def check_request(request: PlacementRequest) -> None:
    """Refuse an id that stands twice or is negative.

    Raises:
        PlacementError: If a component has such an id.
    """
    ids_by_component = {
        "env": [i for pool in request.pools for i in pool.env_ids],
        "eval": [i for pool in request.pools for i in pool.eval_ids],
        "train": list(request.train_ids),
        "buffer": list(request.buffer_ids),
    }
    for component, ids in ids_by_component.items():
        if len(set(ids)) < len(ids) or min(ids, default=0) < 0:
            raise PlacementError(
                f"expected {component} ids that are unique and at least 0, got {ids}; "
                "number the workers from 0"
            )


class _Planner:
    """Tries to place each kind of environment with its replicas; else all as well as they fit."""

    def __init__(
        self, nodes: tuple[Node, ...], request: PlacementRequest, strategy: Strategy
    ) -> None:
        self._nodes = nodes
        self._request = request
        self._strategy = strategy

    def plan(self) -> Plan:
        filling = self._beside_replicas() or self._anywhere()
        return Plan(self._strategy.name, self._request, filling.node_plans())

    def _beside_replicas(self) -> Filling | None:
        """Place pool after pool so that no environment worker is without a replica on its node."""
        if len(self._request.pools) > 1 and isinstance(self._strategy, ManualStrategy):
            return None  # its limits speak of all pools together
        filling = Filling(self._nodes, self._request)
        for number, (pool, demand) in enumerate(self._demands_of_pools()):
            tables = self._tables(filling, demand)
            counts = fit_onto_nodes(
                self._nodes, [with_replicas_only(t) for t in tables], demand, self._strategy
            )
            if counts is None:
                return None
            filling.put([counts], [pool], with_hosts=number == 0)
        return filling

    def _anywhere(self) -> Filling:
        filling = Filling(self._nodes, self._request)
        demand = self._request.counts
        tables = self._tables(filling, demand)
        counts = fit_onto_nodes(self._nodes, tables, demand, self._strategy)
        if counts is None:
            raise shortage_error(self._nodes, self._request, tables, self._strategy)
        pools = [pool for pool, _ in self._demands_of_pools()]
        filling.put(split_over_pools(counts, pools), pools, with_hosts=True)
        return filling

    def _tables(self, filling: Filling, demand: Counts) -> list[RoomTable]:
        return [
            self._strategy.restricted(table, has_learner=filling.has_learner(place))
            for place, table in enumerate(room_tables(filling.left, self._request, demand))
        ]

    def _demands_of_pools(self) -> Iterator[tuple[Pool, Counts]]:
        hosts = self._request.counts[:2]
        for pool in self._request.pools or (Pool((), ()),):
            yield pool, Counts(*hosts, len(pool.eval_ids), len(pool.env_ids))
            hosts = (0, 0)
