"""Placing tasks on their home nodes first, then those without a home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rlightning.dispatch.home_groups import HomeGroups
from rlightning.dispatch.least_loaded_heap import LeastLoadedHeap
from rlightning.dispatch.level_fill import level_fill

Offset: TypeAlias = Callable[[str | None, int], int]
"""Pool (a node, or None for all policies) and its size → where equal loads begin."""


@dataclass(frozen=True)
class Placement:
    """An answer of `assign`, not charged yet.

    Attributes:
        policy_indices: One policy per task. Shape: (num_tasks,).
        num_tasks_by_policy: Tasks that each chosen policy received.
        num_spilled: Tasks with a home that were placed elsewhere.
    """

    policy_indices: list[int]
    num_tasks_by_policy: Mapping[int, int]
    num_spilled: int = 0


def place_evenly(loads: Sequence[int], num_tasks: int, offset: Offset) -> Placement:
    """Place tasks on the least loaded of all policies. O(n log n + k)."""
    chosen = level_fill(loads, num_tasks, offset=offset(None, len(loads)))
    return Placement(chosen, Counter(chosen))


def place_at_home(
    loads: list[int], groups: HomeGroups, seats_by_node: Mapping[str, Sequence[int]], offset: Offset
) -> Placement:
    """Place each task on the least loaded policy of its node, then those without a node.

    O(n log n + k). `loads` rise by what was placed at homes.
    """
    by_node: list[int] = []
    for node_id, num_tasks in groups.num_tasks_by_node.items():
        seats = seats_by_node[node_id]
        by_node += level_fill(loads, num_tasks, seats, offset(node_id, len(seats)))
    num_tasks_by_policy = Counter(by_node)
    for seat, num_tasks in num_tasks_by_policy.items():
        loads[seat] += num_tasks
    homeless = _seats_for_homeless(loads, groups, offset)
    num_tasks_by_policy.update(homeless)
    by_node += homeless
    return Placement(list(map(by_node.__getitem__, groups.places)), num_tasks_by_policy)


def place_with_spill(
    loads: list[int],
    groups: HomeGroups,
    seats_by_node: Mapping[str, Sequence[int]],
    spill_margin: float,
    offset: Offset,
) -> Placement:
    """Like `place_at_home`, but a task leaves a home that is too busy.

    It does when its home's least load exceeds the least of all by more than `spill_margin`.
    O(n + k log n). `loads` rise by what was placed at homes.
    """
    heaps = {
        node_id: LeastLoadedHeap(loads, _rotated(seats, offset(node_id, len(seats))))
        for node_id in groups.num_tasks_by_node
        if (seats := seats_by_node[node_id])
    }
    everywhere = LeastLoadedHeap(loads, _rotated(range(len(loads)), offset(None, len(loads))))
    housed: list[int] = []
    num_spilled = 0
    for node_id in groups.homes:
        if node_id is None:
            continue
        seat, least = heaps[node_id].least(), everywhere.least()
        if loads[seat] - loads[least] > spill_margin:
            seat = least
            num_spilled += 1
        housed.append(seat)
        loads[seat] += 1
    homeless = iter(_seats_for_homeless(loads, groups, offset))
    at_home = iter(housed)
    chosen = [next(homeless if home is None else at_home) for home in groups.homes]
    return Placement(chosen, Counter(chosen), num_spilled)


def _seats_for_homeless(loads: Sequence[int], groups: HomeGroups, offset: Offset) -> list[int]:
    if not groups.num_homeless:
        return []
    return level_fill(loads, groups.num_homeless, offset=offset(None, len(loads)))


def _rotated(seats: Sequence[int], offset: int) -> list[int]:
    return [*seats[offset:], *seats[:offset]]
