"""Colocate: environments, replicas and learners share nodes and GPUs."""

from __future__ import annotations

import numpy as np

from rlightning.placement.room_table import RoomTable
from rlightning.placement.strategies.default import DefaultStrategy


class ColocateStrategy(DefaultStrategy):
    """Spreads evenly over those nodes that hold a learner; the others stay empty."""

    name = "colocate"
    rule = "environment workers and replicas live only on nodes with a learner"

    def restricted(self, table: RoomTable, *, has_learner: bool) -> RoomTable:
        """Return the table without rollouts where no learner is."""
        if has_learner:
            return table
        allowed = table.copy()
        allowed[0, :, 1:] = -1
        allowed[0, :, 0] = np.minimum(allowed[0, :, 0], 0)
        return allowed
