"""A plan that fits beside what others hold on the nodes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.resource_manager import GlobalResourceManager, WorkerPlace
from rlightning.placement.taken_room import Lacks, own_name, taken_nodes, with_taken

logger = logging.getLogger(__name__)

RoomCheck = Callable[[Mapping[str, WorkerPlace]], Lacks]
"""Returns which workers find no room on their nodes now, and what they lack."""

MAX_PLANS = 4
"""Nodes fill up while one plans; whoever does not fit after so many plans gives up."""


def plan_beside_others(
    make_plan: Callable[[Sequence[Node]], Plan], nodes: Sequence[Node], check: RoomCheck
) -> GlobalResourceManager:
    """Plan, look whether every worker finds room, and plan anew on what is free.

    Args:
        make_plan: Returns a plan for nodes.
        nodes: With all that they have.
        check: Looks for room.

    Raises:
        PlacementError: If no plan fits on what is free; names who lacks what where.
    """
    shortages: list[str] = []
    for _ in range(MAX_PLANS):
        try:
            plan = make_plan(nodes)
        except PlacementError as error:
            raise _with_shortages(error, shortages) from error
        manager = GlobalResourceManager(plan)
        lacks = check(_places(manager, plan))
        if not lacks:
            return manager
        taken = list(taken_nodes(plan, lacks))
        shortages += [line for each in taken for line in each.shortages]
        logger.info("planning anew: %s", "; ".join(shortages))
        nodes = with_taken(nodes, taken)
    lines = "".join(f"\n  {line}" for line in dict.fromkeys(shortages))
    raise PlacementError(
        f"expected nodes whose room stays free, got other workers in it after each of {MAX_PLANS} "
        f"plans:{lines}\nwait until the others have started or ended, or add nodes"
    )


def _places(manager: GlobalResourceManager, plan: Plan) -> dict[str, WorkerPlace]:
    places = {own_name(worker): manager.place_of(own_name(worker)) for worker in plan.workers}
    return {name: place for name, place in places.items() if place is not None}


def _with_shortages(error: PlacementError, shortages: Sequence[str]) -> PlacementError:
    lines = "".join(f"\n  {line}" for line in dict.fromkeys(shortages))
    return PlacementError(f"{error}{lines}") if shortages else error
