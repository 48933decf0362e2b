"""Replicas together with their share of environment workers."""

from __future__ import annotations

import numpy as np

from rlightning.placement.request import Counts
from rlightning.placement.room_table import NO_ROOM, RoomTable, room_at


def most_bundles(table: RoomTable, train: int, buffer: int, demand: Counts) -> int:
    """Return the most replicas that fit with their share of environment workers.

    Beside so many learners and buffers; -1 if those do not fit. Without replicas in the demand:
    the most environment workers.
    """
    if room_at(table, train, buffer, 0) < 0:
        return NO_ROOM
    row = table[train, buffer]
    if demand.eval == 0:
        return int(row[0])
    needed = np.arange(len(row)) * demand.env // demand.eval
    return int(np.flatnonzero((row >= 0) & (row >= needed)).max(initial=0))


def most_replicas(table: RoomTable, train: int, buffer: int) -> int:
    """Return the most replicas that fit beside so many learners and buffers, -1 for no room."""
    if room_at(table, train, buffer, 0) < 0:
        return NO_ROOM
    return int(np.flatnonzero(table[train, buffer] >= 0).max())


def with_replicas_only(table: RoomTable) -> RoomTable:
    """Return the table of a place where environment workers live only beside a replica."""
    restricted = table.copy()
    restricted[:, :, 0] = np.minimum(restricted[:, :, 0], 0)
    return restricted
