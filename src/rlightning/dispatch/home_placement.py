"""Placing tasks at home, over many calls: choosing, charging and counting as one step."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from rlightning.dispatch.assignment_request import checked_env_ids, checked_num_tasks
from rlightning.dispatch.decision_counts import BALANCED, LOCAL, SPILLED, no_decisions
from rlightning.dispatch.home_fill import (
    Placement,
    place_at_home,
    place_evenly,
    place_with_spill,
)
from rlightning.dispatch.home_groups import HomeGroups, HomeGroupsOfLastCall
from rlightning.dispatch.loads import Loads, charge_loads, read_loads
from rlightning.dispatch.policy_nodes import PolicyNodes
from rlightning.dispatch.policy_pool_errors import no_policies_error
from rlightning.dispatch.spill_margin import checked_spill_margin
from rlightning.dispatch.tie_break import TieBreak
from rlightning.placement.topology import Topology


class HomePlacement:
    """Decides for a node-affinity router, and remembers counts and rotation.

    Safe from many threads: one call at a time reads, chooses, charges and counts, so that threads
    that share a list of loads lose no charge.
    """

    def __init__(
        self,
        topology: Topology,
        nodes: PolicyNodes,
        tie_break: TieBreak,
        spill_margin: float | None,
    ) -> None:
        """Take the nodes of envs and policies, and the rules.

        Raises:
            RoutingTypeError: If the margin is neither a number nor None.
            RoutingValueError: If it is negative or NaN.
        """
        self.nodes = nodes
        self.spill_margin = checked_spill_margin(spill_margin)
        self.decisions = no_decisions()
        self._tie_break = tie_break
        self._groups = HomeGroupsOfLastCall(topology.env_nodes, nodes.seats_by_node.__contains__)
        self._lock = Lock()

    def place_and_charge(
        self, current_loads: Loads, num_tasks: int, env_ids: Sequence[str] | None
    ) -> list[int]:
        """Return one policy per task, and charge the loads where they can be changed.

        O(n log n + k); with a spill margin O(n + k log n).

        Raises:
            RoutingValueError: If a value is not allowed, a charge does not fit, or there are no
                policies for the tasks. Then nothing is charged or counted.
            RoutingTypeError: If an argument has the wrong type.
        """
        num_asked = checked_num_tasks(num_tasks)
        checked_ids = checked_env_ids(env_ids, num_asked)
        groups = None if checked_ids is None else self._groups(checked_ids)
        with self._lock:
            loads = read_loads(current_loads)
            self.nodes.check_num_policies(len(loads))
            if not num_asked:
                return []
            if not loads:
                raise no_policies_error()
            placement = self._place(loads, num_asked, groups)
            charge_loads(current_loads, placement.num_tasks_by_policy)
            self._note(placement, num_asked, groups)
        return placement.policy_indices

    def _place(self, loads: list[int], num_tasks: int, groups: HomeGroups | None) -> Placement:
        offset = self._tie_break.offset
        if groups is None:
            return place_evenly(loads, num_tasks, offset)
        if self.spill_margin is None:
            return place_at_home(loads, groups, self.nodes.seats_by_node, offset)
        return place_with_spill(loads, groups, self.nodes.seats_by_node, self.spill_margin, offset)

    def _note(self, placement: Placement, num_tasks: int, groups: HomeGroups | None) -> None:
        if groups is None:
            self.decisions[BALANCED] += num_tasks
            self._tie_break.advance(None, num_tasks)
            return
        for reason, count in groups.decisions.items():
            self.decisions[reason] += count
        self.decisions[LOCAL] -= placement.num_spilled
        self.decisions[SPILLED] += placement.num_spilled
        for node_id, count in groups.num_tasks_by_node.items():
            self._tie_break.advance(node_id, count)
        self._tie_break.advance(None, groups.num_homeless + placement.num_spilled)
