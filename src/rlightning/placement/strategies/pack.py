"""Pack: as few nodes as possible, the roomiest first, each filled before the next."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.placement.bundles import most_bundles
from rlightning.placement.request import Counts
from rlightning.placement.room_table import RoomTable, empty_place, holds, room_at, together
from rlightning.placement.strategies.base import Strategy


class PackStrategy(Strategy):
    """Fills node after node, replicas with their share of environment workers."""

    name = "pack"

    def selected(self, tables: Sequence[RoomTable], demand: Counts) -> list[int]:
        """Return the roomiest nodes, no more than are needed; all if those are too few."""
        order = sorted(range(len(tables)), key=lambda k: _emptiness(tables[k], demand))
        room = empty_place(demand)
        for number, place in enumerate(order, start=1):
            room = together(room, tables[place], demand)
            if holds(room, demand):
                return order[:number]
        return order

    def wishes(self, tables: Sequence[RoomTable], demand: Counts) -> list[Counts]:
        """Return for each node all that it can hold of what those before it have left."""
        left, wished = demand, []
        for table in tables:
            own = _fill(table, left, demand)
            wished.append(own)
            left = left.minus(own)
        return wished


def _emptiness(table: RoomTable, demand: Counts) -> tuple[int, ...]:
    """Sort key: nodes that hold most bundles, then most learners, come first."""
    trains = max(t for t in range(table.shape[0]) if table[t, 0, 0] >= 0)
    return -most_bundles(table, 0, 0, demand), -trains


def _fill(table: RoomTable, left: Counts, demand: Counts) -> Counts:
    train = max(t for t in range(left.train + 1) if room_at(table, t, 0, 0) >= 0)
    buffer = max(b for b in range(left.buffer + 1) if room_at(table, train, b, 0) >= 0)
    bundles = most_bundles(table, train, buffer, demand) if demand.eval else 0
    replicas = min(bundles, left.eval)
    room = max(room_at(table, train, buffer, replicas), 0)
    share = -(-left.env * replicas // left.eval) if left.eval else left.env
    return Counts(train, buffer, replicas, min(room, share))
