"""The plan of a run, made from its configuration and the nodes that there are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from rlightning.config.cluster_config import ClusterConfig
from rlightning.config.env_config import EnvConfig
from rlightning.engine.cluster_nodes import find_nodes
from rlightning.engine.free_room import RoomCheck, plan_beside_others
from rlightning.engine.ray_extra import needs_ray
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.pools import env_ids_of_pools
from rlightning.placement.request import Demand, PlacementRequest, request_of
from rlightning.placement.resource_manager import GlobalResourceManager, WorkerPlace
from rlightning.placement.taken_room import Lacks
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerHandle

NOTHING = Demand(cpus=Fraction(0))

SECONDS_TO_NOTICE = 3.0
"""How long a node that was told to end is still called alive."""

SECONDS_BETWEEN_LOOKS = 0.1

SECONDS_FOR_OTHERS_TO_LEAVE = 5.0
"""How long a plan waits for room that others are giving back, such as a run that just ended."""


def _lacking_on_ray(places: Mapping[str, WorkerPlace]) -> Lacks:
    with needs_ray():
        from rlightning.runtime.ray.room_check import lacking_room  # noqa: PLC0415 - an extra
    return lacking_room(places, SECONDS_FOR_OTHERS_TO_LEAVE)


ROOM_CHECKS: dict[str, RoomCheck] = {"ray": _lacking_on_ray}
"""How to look whether workers find room beside what others hold, by ``cluster.backend``."""


def placement_request(
    cluster: ClusterConfig,
    env_configs: Sequence[EnvConfig],
    num_eval_policies: int,
    *,
    is_guest: bool = False,
) -> PlacementRequest:
    """Return the workers of a run.

    Args:
        cluster: Says what each worker asks for.
        env_configs: Environments to host.
        num_eval_policies: Replicas of each kind.
        is_guest: Whether they live beside a run that has the room for itself; they ask for none.
    """
    request = request_of(cluster.placement, env_ids_of_pools(env_configs), num_eval_policies)
    if not is_guest:
        return request
    return replace(request, demands=dict.fromkeys(("env", "eval", "train"), NOTHING))


def num_cpus_asked(request: PlacementRequest) -> int:
    """Return the CPUs of all workers together, rounded up."""
    counts = request.counts._asdict().items()
    amounts = (number * request.demand(component).cpus for component, number in counts)
    return math.ceil(sum(amounts, Fraction(0)))


def create_manager(
    cluster: ClusterConfig, request: PlacementRequest, *, is_guest: bool = False
) -> GlobalResourceManager:
    """Return the manager of a run, with its plan; in one process everything fits.

    On Ray the plan keeps to what others leave free now.

    Raises:
        PlacementError: If the workers do not fit on the nodes.
    """
    if cluster.backend == "in_process":
        return GlobalResourceManager.on_one_node(request)
    nodes = find_nodes(cluster, request).nodes
    if is_guest:
        return GlobalResourceManager(plan_placement(nodes, request))
    placement = cluster.placement
    manual = placement.count_ranges() or None
    return plan_beside_others(
        lambda on_nodes: plan_placement(on_nodes, request, placement.strategy, manual),
        nodes,
        ROOM_CHECKS[cluster.backend],
    )


def living_nodes(cluster: ClusterConfig, manager: GlobalResourceManager) -> tuple[Node, ...]:
    """Return the nodes that are alive, with all that the run may use on them.

    Workers of one process take turns, so that there is always room for one more.
    """
    nodes = find_nodes(cluster, manager.request).nodes
    if cluster.backend != "in_process":
        return nodes
    one_more = sum(demand.cpus for demand in manager.request.demands.values())
    return tuple(replace(node, cpus=node.cpus + one_more) for node in nodes)


class Relocation:
    """Finds nodes for workers that are restarted, and tells the routers of it.

    Args:
        manager: Owns the plan.
        policies: Whose routers know where environment workers live.
        living_nodes: Returns the nodes that are alive.
        sleep: Waits so many seconds.
    """

    def __init__(
        self,
        manager: GlobalResourceManager,
        policies: PolicyGroup,
        living_nodes: Callable[[], Sequence[Node]],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._sleep = sleep
        self._manager = manager
        self._policies = policies
        self._living_nodes = living_nodes
        self._moved: set[str] = set()

    def choose_node(self, worker_id: str) -> str:
        """Return the node for a restart: its own while it lives, else one that has room.

        Raises:
            PlacementError: If no node has room.
        """
        former = self._manager.node_of(worker_id)
        node_id = self._manager.choose_node(worker_id, self._living_nodes())
        if node_id != former:
            self._moved.add(worker_id)
        return node_id

    def is_node_gone(self, worker_id: str) -> bool:
        """Return whether the node of a worker is dead, or will be in a moment.

        For a worker whose start there has failed; waits a while before it says no.
        """
        node_id = self._manager.node_of(worker_id)
        for _ in range(round(SECONDS_TO_NOTICE / SECONDS_BETWEEN_LOOKS)):
            if all(node.node_id != node_id for node in self._living_nodes()):
                return True
            self._sleep(SECONDS_BETWEEN_LOOKS)
        return False

    def joined(self, handle: WorkerHandle) -> None:
        """Hear that a worker was restarted; if it moved, the routers are made anew."""
        if handle.worker_id in self._moved:
            self._moved.discard(handle.worker_id)
            self._policies.rebuild_routers()
