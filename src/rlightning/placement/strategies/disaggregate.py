"""Disaggregate: learners on nodes of their own, rollouts levelled over the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlightning.placement.bundles import most_bundles
from rlightning.placement.request import Counts
from rlightning.placement.room_table import RoomTable, room_at
from rlightning.placement.strategies.base import Strategy
from rlightning.placement.strategies.default import level_rollouts


class DisaggregateStrategy(Strategy):
    """Learners and buffers fill the nodes that rollouts miss least."""

    name = "disaggregate"
    rule = "learners live on nodes without environment workers and replicas"

    def restricted(self, table: RoomTable, *, has_learner: bool) -> RoomTable:
        """Return the table without rollouts beside a learner."""
        first = 0 if has_learner else 1
        allowed = table.copy()
        allowed[first:, :, 1:] = -1
        allowed[first:, :, 0] = np.minimum(allowed[first:, :, 0], 0)
        return allowed

    def wishes(self, tables: Sequence[RoomTable], demand: Counts) -> list[Counts]:
        """Return learners on few nodes, and an even share of rollouts for each other node."""
        return level_rollouts(tables, _hosts(tables, demand), demand)


def _hosts(tables: Sequence[RoomTable], demand: Counts) -> list[tuple[int, int]]:
    hosts = [(0, 0)] * len(tables)
    left = demand
    for place in sorted(range(len(tables)), key=lambda k: _loss(tables[k], demand, k)):
        table = tables[place]
        train = max(t for t in range(left.train + 1) if room_at(table, t, 0, 0) >= 0)
        beside = range(left.buffer + 1 if train or not demand.train else 1)
        buffer = max(b for b in beside if room_at(table, train, b, 0) >= 0)
        hosts[place] = (train, buffer)
        left = left.minus(Counts(train, buffer))
    return hosts


def _loss(table: RoomTable, demand: Counts, place: int) -> tuple[int, ...]:
    """Sort key: nodes that take most learners, then those that hold fewest bundles, come first."""
    trains = max(t for t in range(table.shape[0]) if table[t, 0, 0] >= 0)
    return -trains, max(most_bundles(table, 0, 0, demand), 0), place
