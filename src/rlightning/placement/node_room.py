"""What fits on one node: CPUs, memory, GPUs, and whether the node is of the right kind."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from rlightning.placement.gpu_room import GpuDemands, GpuRoom
from rlightning.placement.node import Node
from rlightning.placement.request import Counts, Demand, PlacementRequest
from rlightning.placement.room_table import NO_ROOM, RoomTable

COMPONENT_ORDER: tuple[str, ...] = Counts._fields
"""Components in the order of `Counts`; learners first, for they are the hardest to place."""


def demands_in_order(request: PlacementRequest) -> tuple[Demand, ...]:
    """Return what one worker of each component asks for, in the order of `Counts`."""
    return tuple(request.demand(component) for component in COMPONENT_ORDER)


def room_tables(
    nodes: Sequence[Node], request: PlacementRequest, counts: Counts
) -> list[RoomTable]:
    """Return the room table of each node; equal nodes share one.

    O(distinct nodes x entries of a table).

    Args:
        nodes: The nodes.
        request: Says what each worker asks for.
        counts: Largest numbers that will be asked about.
    """
    demands = demands_in_order(request)
    known: dict[tuple[object, ...], RoomTable] = {}
    tables = []
    for node in nodes:
        allowed = tuple(demand.is_allowed_on(node) for demand in demands)
        key = (node.cpus, node.memory_bytes, node.gpu_shares, allowed)
        if key not in known:
            known[key] = _room_table(node, demands, _at_most(counts, allowed))
        tables.append(known[key])
    return tables


def _at_most(counts: Counts, allowed: Sequence[bool]) -> Counts:
    return Counts(*(n if may else 0 for n, may in zip(counts, allowed, strict=True)))


def _room_table(node: Node, demands: tuple[Demand, ...], most: Counts) -> RoomTable:
    own_most = Counts(*(_alone(node, demand, n) for demand, n in zip(demands, most, strict=True)))
    gpus = GpuRoom(node.gpu_shares, GpuDemands.of(demands), own_most)
    shape = tuple(n + 1 for n in own_most[:3])
    table = np.full(shape, NO_ROOM, dtype=np.int64)
    for t, b, v in product(*map(range, shape)):
        others = Counts(t, b, v, 0)
        room = _room_beside(node, demands, others, own_most.env)
        table[t, b, v] = max(min(room, gpus.room(others)), NO_ROOM) if room >= 0 else NO_ROOM
    return table


def _alone(node: Node, demand: Demand, most: int) -> int:
    """Return how many workers of one kind fit by CPUs, memory and GPUs in sum."""
    limits = [
        _times(node.cpus, demand.cpus, most),
        _times(node.gpus, demand.gpus, most),
        most if node.memory_bytes is None else _times(node.memory_bytes, demand.memory_bytes, most),
    ]
    return min(most, *limits)


def _room_beside(node: Node, demands: tuple[Demand, ...], others: Counts, most: int) -> int:
    """Return the environment workers that fit by CPUs and memory beside the others."""
    own = demands[3]
    cpus = node.cpus - sum(n * demand.cpus for n, demand in zip(others, demands, strict=True))
    room = _times(cpus, own.cpus, most)
    if node.memory_bytes is not None and room >= 0:
        used = sum(n * demand.memory_bytes for n, demand in zip(others, demands, strict=True))
        room = min(room, _times(node.memory_bytes - used, own.memory_bytes, most))
    return room


def _times(amount: Fraction | int, each: Fraction | int, most: int) -> int:
    """Return how often `each` fits into `amount`, `most` if it asks for nothing."""
    if amount < 0:
        return NO_ROOM
    return min(int(amount // each), most) if each else most
