"""Fit workers onto nodes by a strategy: first onto groups of nodes, then onto their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.placement.nearest_fit import nearest_fit
from rlightning.placement.node import Node
from rlightning.placement.request import Counts
from rlightning.placement.room_table import NO_ROOM, RoomTable, entries, total_room
from rlightning.placement.strategies.base import NodeGroup, Strategy


def fit_onto_nodes(
    nodes: Sequence[Node], tables: Sequence[RoomTable], demand: Counts, strategy: Strategy
) -> list[Counts] | None:
    """Return who goes to each node, or None if they do not fit; exact and deterministic.

    Args:
        nodes: The nodes.
        tables: Room table of each, without what the strategy never does.
        demand: What all shall hold together.
        strategy: Says what is wished for.
    """
    groups = strategy.groups(nodes, demand)
    shares = _shares_of_groups(groups, tables, demand)
    if shares is None:
        return None
    found = [Counts()] * len(nodes)
    for group, share in zip(groups, shares, strict=True):
        own_tables = [tables[place] for place in group.node_indices]
        order = strategy.selected(own_tables, share)
        fitted = nearest_fit([own_tables[k] for k in order], share, strategy.wishes)
        if fitted is None:
            return None
        for k, counts in zip(order, fitted, strict=True):
            found[group.node_indices[k]] = counts
    return found


def bounded_table(group: NodeGroup, tables: Sequence[RoomTable], demand: Counts) -> RoomTable:
    """Return the room of a group as one, without what its limits forbid."""
    table = total_room([tables[place] for place in group.node_indices], demand)
    bounded = table.copy()
    for place, room in entries(table):
        others = Counts(*place, 0)
        least, most = group.least._replace(env=0), group.most
        is_within = all(a <= n <= b for a, n, b in zip(least, others, most, strict=True))
        if not is_within or room < group.least.env:
            bounded[place] = NO_ROOM
        else:
            bounded[place] = min(room, group.most.env)
    return bounded


def _shares_of_groups(
    groups: Sequence[NodeGroup], tables: Sequence[RoomTable], demand: Counts
) -> list[Counts] | None:
    if len(groups) == 1 and groups[0].least == Counts() and groups[0].most == demand:
        return [demand]
    bounded = [bounded_table(group, tables, demand) for group in groups]
    return nearest_fit(
        bounded,
        demand,
        lambda left, _: [_wish(group) for group in groups[len(groups) - len(left) :]],
        [group.least.env for group in groups],
    )


def _wish(group: NodeGroup) -> Counts:
    """Wish for the middle of the range, so that no group is at its limit without need."""
    return Counts(*((a + b) // 2 for a, b in zip(group.least, group.most, strict=True)))
