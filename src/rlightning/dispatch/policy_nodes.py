"""Which policies stand on which node, by index in the list of loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlightning.errors import RoutingTypeError, RoutingValueError
from rlightning.placement.topology import Topology


class PolicyNodes:
    """The node of every policy: from a list, or else from the topology's eval ids.

    Attributes:
        seats_by_node: Node id → indices of its policies, ascending.
    """

    def __init__(self, topology: Topology, policy_node_ids: Sequence[str | None] | None) -> None:
        """Take the list where there is one; it wins.

        Raises:
            RoutingTypeError: If the list is no sequence or holds anything but strings and None.
        """
        self._topology = topology
        self._num_policies: int | None = None
        self._max_eval_id = max(topology.eval_nodes, default=-1)
        pairs: list[tuple[int, str]] = sorted(topology.eval_nodes.items())
        if policy_node_ids is not None:
            node_ids = _checked_node_ids(policy_node_ids)
            self._num_policies = len(node_ids)
            pairs = [(i, node_id) for i, node_id in enumerate(node_ids) if node_id is not None]
        self.seats_by_node: dict[str, list[int]] = {}
        for policy_index, node_id in pairs:
            self.seats_by_node.setdefault(node_id, []).append(policy_index)

    def check_num_policies(self, num_policies: int) -> None:
        """Refuse loads of another number of policies than the nodes are known for.

        Raises:
            RoutingValueError: If `policy_node_ids` has another length, or the distribution names
                an eval id that no policy stands for. No policies at all contradict only the list.
        """
        if self._num_policies is None:
            if 0 < num_policies <= self._max_eval_id:
                self._topology.check_eval_ids(num_policies)
        elif self._num_policies != num_policies:
            raise RoutingValueError(
                f"expected one entry of policy_node_ids per load, got {self._num_policies} entries "
                f"and {num_policies} loads; build a new router when policies come or go"
            )


def _checked_node_ids(policy_node_ids: Any) -> list[str | None]:
    is_sequence = isinstance(policy_node_ids, (Sequence, np.ndarray))
    if not is_sequence or isinstance(policy_node_ids, (str, bytes)):
        raise RoutingTypeError(
            f"expected policy_node_ids as a sequence of node ids or None, got {policy_node_ids!r} "
            f"of type {type(policy_node_ids).__name__}; pass one entry per policy"
        )
    node_ids: list[Any] = list(policy_node_ids)
    for position, node_id in enumerate(node_ids):
        if node_id is not None and not isinstance(node_id, str):
            raise RoutingTypeError(
                f"expected policy_node_ids as strings or None, got {node_id!r} of type "
                f"{type(node_id).__name__} at position {position}; use the runtime's node ids"
            )
    return node_ids
