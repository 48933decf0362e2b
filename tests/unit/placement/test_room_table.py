"""Room tables of several places together."""

from __future__ import annotations

import numpy as np

from rlightning.placement.request import Counts
from rlightning.placement.room_table import NO_ROOM, together


def test_room_above_the_demand_is_cut_off() -> None:
    """A place with room for two replicas, where none is wanted, offers its room beside none.

    Asked for: 1 learner, 0 buffers, 0 replicas, at most 5 environment workers. Left holds 2
    beside 0 learners and 1 beside 1 learner; right holds 3, 2, 1 beside 0, 1, 2 replicas.
    """
    left = np.array([[[2]], [[1]]], dtype=np.int64)
    right = np.array([[[3, 2, 1]], [[NO_ROOM, NO_ROOM, NO_ROOM]]], dtype=np.int64)
    demand = Counts(env=5, eval=0, train=1, buffer=0)
    assert together(left, right, demand).tolist() == [[[5]], [[4]]]
