"""What fits where: the most environment workers beside given numbers of the other workers.

A *room table* is an integer array. Entry ``[t, b, v]`` is the largest number of environment
workers that fit beside exactly t learners, b buffers and v replicas, or -1 if those alone do not
fit. Devices, nodes and groups of nodes all have one, and the table of several of them together is
their max-plus sum, which makes the question whether a cluster has room an exact one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rlightning.placement.request import Counts

RoomTable: TypeAlias = NDArray[np.int64]
NO_ROOM = -1


def table_shape(demand: Counts) -> tuple[int, int, int]:
    """Return the shape that holds every entry up to the demand."""
    return demand.train + 1, demand.buffer + 1, demand.eval + 1


def empty_place(demand: Counts) -> RoomTable:
    """Return the table of a place that holds nothing."""
    table = np.full(table_shape(demand), NO_ROOM, dtype=np.int64)
    table[0, 0, 0] = 0
    return table


def together(left: RoomTable, right: RoomTable, demand: Counts) -> RoomTable:
    """Return the table of two places as one; entries above the demand are cut off.

    O(entries of `left` x entries of `right`).
    """
    total = np.full(table_shape(demand), NO_ROOM, dtype=np.int64)
    for (t, b, v), room in entries(right):
        if t >= total.shape[0] or b >= total.shape[1] or v >= total.shape[2]:
            continue
        part = left[: total.shape[0] - t, : total.shape[1] - b, : total.shape[2] - v]
        corner = total[t : t + part.shape[0], b : b + part.shape[1], v : v + part.shape[2]]
        sums = np.where(part >= 0, np.minimum(part + room, demand.env), NO_ROOM)
        np.maximum(corner, sums, out=corner)
    return total


def rooms_from_the_end(tables: Sequence[RoomTable], demand: Counts) -> list[RoomTable]:
    """Return, for each k, the table of all places from the k-th on; the last holds nothing."""
    sums = accumulate(
        reversed(tables), lambda done, own: together(done, own, demand), initial=empty_place(demand)
    )
    return list(sums)[::-1]


def total_room(tables: Sequence[RoomTable], demand: Counts) -> RoomTable:
    """Return the table of all places together."""
    return rooms_from_the_end(tables, demand)[0]


def room_at(table: RoomTable, train: int, buffer: int, replicas: int) -> int:
    """Return the entry, and `NO_ROOM` beyond the table."""
    place = (train, buffer, replicas)
    if any(i < 0 or i >= size for i, size in zip(place, table.shape, strict=True)):
        return NO_ROOM
    return int(table[place])


def holds(table: RoomTable, counts: Counts) -> bool:
    """Say whether exactly these workers fit."""
    return room_at(table, *counts[:3]) >= counts.env


def entries(table: RoomTable) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Yield every entry with room, in a fixed order."""
    for place in np.argwhere(table >= 0).tolist():
        t, b, v = place
        yield (t, b, v), int(table[t, b, v])
