"""What a strategy of placement decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from rlightning.placement.node import Node
from rlightning.placement.request import Counts
from rlightning.placement.room_table import RoomTable


@dataclass(frozen=True)
class NodeGroup:
    """Nodes with limits of what they may hold together.

    Attributes:
        name: For messages.
        node_indices: Positions of its nodes.
        least: Smallest number of each component.
        most: Largest number of each component.
    """

    name: str
    node_indices: tuple[int, ...]
    least: Counts
    most: Counts


class Strategy(ABC):
    """A wish for each node; the planner comes as near to it as the nodes allow.

    The planner calls `groups`, then for each group `restricted` on each node, `selected`, and
    `wishes` on the nodes that were selected.
    """

    name: str
    """As it stands in the configuration."""

    rule = ""
    """In messages: what may not be, whatever room there is."""

    def groups(self, nodes: Sequence[Node], demand: Counts) -> list[NodeGroup]:
        """Return the parts of the cluster that have limits of their own."""
        return [NodeGroup("cluster", tuple(range(len(nodes))), Counts(), demand)]

    def restricted(self, table: RoomTable, *, has_learner: bool) -> RoomTable:
        """Return the room table of a node without what this strategy never does.

        Args:
            table: What the node has room for.
            has_learner: Whether a learner lives there already.
        """
        return table

    def selected(self, tables: Sequence[RoomTable], demand: Counts) -> list[int]:
        """Return the positions of the nodes to use, in the order in which they are filled."""
        return list(range(len(tables)))

    @abstractmethod
    def wishes(self, tables: Sequence[RoomTable], demand: Counts) -> list[Counts]:
        """Return what each node should hold; need not fit, must be deterministic."""
