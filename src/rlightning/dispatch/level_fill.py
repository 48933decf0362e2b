"""The assignment that levels loads best, computed by levels instead of task by task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def level_fill(
    loads: Sequence[int], num_tasks: int, seats: Sequence[int] | None = None, offset: int = 0
) -> list[int]:
    """Give each task to the least loaded seat so far; of equal ones to the first.

    The answer is that of the loop ``i = min(seats, key=loads.__getitem__); loads[i] += 1``. It is
    found faster because between two distinct loads the set of least loaded seats stays the same:
    it takes whole rounds in seat order.

    Args:
        loads: Load of every policy, whole numbers of any size. Left as it is.
        num_tasks: Tasks to place, k.
        seats: Policy indices that may be chosen, ascending; all of `loads` if None.
        offset: Equal loads are taken in the order of the seats rotated by this many places.

    Returns:
        One policy index per task. Shape: (num_tasks,). O(n log n + k) for n seats.
    """
    chosen_from = range(len(loads)) if seats is None else seats
    if offset:
        order = [*chosen_from[offset:], *chosen_from[:offset]]
        ranks = _fill([loads[seat] for seat in order], num_tasks, range(len(order)))
        return [order[rank] for rank in ranks]
    own_loads = loads if seats is None else [loads[seat] for seat in seats]
    return _fill(own_loads, num_tasks, chosen_from)


def _fill(loads: Sequence[int], num_tasks: int, seats: Sequence[int]) -> list[int]:
    """Fill seats, ascending, that have these loads."""
    if num_tasks == 1:
        return [seats[loads.index(min(loads))]]
    seats_by_load: dict[int, list[int]] = {}
    for seat, load in zip(seats, loads, strict=True):
        seats_by_load.setdefault(load, []).append(seat)
    levels = sorted(seats_by_load)
    answer: list[int] = []
    active: list[int] = []
    num_left = num_tasks
    for level, next_level in pairwise(levels):
        active += seats_by_load[level]
        # Two sorted runs: the sort is one merge, paid for by the round that follows.
        active.sort()
        num_round_tasks = len(active) * (next_level - level)
        if num_round_tasks >= num_left:
            return answer + _rounds(active, num_left)
        answer += active * (next_level - level)
        num_left -= num_round_tasks
    return answer + _rounds(list(seats), num_left)


def _rounds(active: list[int], num_tasks: int) -> list[int]:
    """Return `num_tasks` seats: the active ones over and over."""
    if not num_tasks:
        return []
    num_rounds, num_rest = divmod(num_tasks, len(active))
    return active * num_rounds + active[:num_rest]
