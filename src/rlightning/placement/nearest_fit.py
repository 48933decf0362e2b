"""Fill places as near as possible to what is wished for; find a way whenever there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rlightning.placement.request import Counts
from rlightning.placement.room_table import (
    RoomTable,
    entries,
    holds,
    room_at,
    rooms_from_the_end,
)

Wishes = Callable[[Sequence[RoomTable], Counts], list[Counts]]
"""From the tables of places and what they shall hold together to a wish for each place."""


@dataclass(frozen=True)
class _Choice:
    """One way to fill a place: exact numbers of the others, a range of environment workers."""

    others: tuple[int, int, int]
    least_env: int
    most_env: int

    def nearest_to(self, wish: Counts) -> Counts:
        """Return the member of the range that is nearest to the wish."""
        return Counts(*self.others, min(max(wish.env, self.least_env), self.most_env))


def nearest_fit(
    tables: Sequence[RoomTable],
    demand: Counts,
    wishes: Wishes,
    least_envs: Sequence[int] | None = None,
) -> list[Counts] | None:
    """Return who goes to each place, or None if they do not fit together.

    Exact: None means that there is no way. Deterministic. If the wishes themselves fit, they are
    the answer, at next to no cost; otherwise O(sum over places of entries x size of the demand).

    Args:
        tables: Room table of each place.
        demand: What all places shall hold together.
        wishes: Asked anew whenever a place gets something else than was wished for.
        least_envs: Environment workers that each place must get, 0 by default.
    """
    least = [0] * len(tables) if least_envs is None else list(least_envs)
    wished = wishes(tables, demand)
    if _is_fulfilled_by(wished, tables, demand, least):
        return wished
    rooms = rooms_from_the_end(tables, demand)
    if room_at(rooms[0], *demand[:3]) < demand.env or sum(least) > demand.env:
        return None
    return list(_walk(tables, demand, wishes, rooms, least))


def _is_fulfilled_by(
    wished: Sequence[Counts], tables: Sequence[RoomTable], demand: Counts, least: Sequence[int]
) -> bool:
    total = Counts()
    for wish, table, least_env in zip(wished, tables, least, strict=True):
        if not holds(table, wish) or wish.env < least_env:
            return False
        total = total.plus(wish)
    return total == demand


def _walk(
    tables: Sequence[RoomTable],
    demand: Counts,
    wishes: Wishes,
    rooms: Sequence[RoomTable],
    least: Sequence[int],
) -> Iterator[Counts]:
    left = demand
    wished = wishes(tables, demand)
    for k, table in enumerate(tables):
        limits = _Limits(left, rooms[k + 1], least[k], sum(least[k + 1 :]))
        chosen = min(
            (choice.nearest_to(wished[0]) for choice in _choices(table, limits)),
            key=lambda counts: _distance(counts, wished[0]),
        )
        yield chosen
        left = left.minus(chosen)
        as_wished = chosen == wished[0]
        wished = wished[1:] if as_wished else wishes(tables[k + 1 :], left)


def _distance(counts: Counts, wish: Counts) -> tuple[int, ...]:
    return tuple(abs(n) for n in counts.minus(wish))


@dataclass(frozen=True)
class _Limits:
    """What a choice has to leave to the places that follow."""

    left: Counts
    room_after: RoomTable
    least_here: int
    least_after: int


def _choices(table: RoomTable, limits: _Limits) -> Iterator[_Choice]:
    left = limits.left
    for others, room in entries(table):
        t, b, v = others
        after = room_at(limits.room_after, left.train - t, left.buffer - b, left.eval - v)
        least = max(limits.least_here, left.env - after)
        most = min(room, left.env - limits.least_after)
        if after >= 0 and least <= most:
            yield _Choice(others, least, most)
