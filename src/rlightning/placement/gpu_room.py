"""What fits on the GPUs of one node: parts of a GPU share it, whole requests have it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from rlightning.placement.node import WHOLE
from rlightning.placement.request import Counts, Demand
from rlightning.placement.room_table import RoomTable, empty_place, room_at, together


@dataclass(frozen=True)
class GpuDemands:
    """GPUs that one worker of each component asks for, in the order of `Counts`."""

    shares: tuple[Fraction, ...]

    @classmethod
    def of(cls, demands: Sequence[Demand]) -> GpuDemands:
        """Return the GPUs of all that is asked for."""
        return cls(tuple(demand.gpus for demand in demands))

    def partial(self, counts: Counts) -> Counts:
        """Return the numbers of those workers that share a GPU with others."""
        return Counts(*(n if 0 < s < 1 else 0 for n, s in zip(counts, self.shares, strict=True)))

    def num_whole(self, counts: Counts) -> int:
        """Return the GPUs that workers have for themselves."""
        return sum(n * int(s) for n, s in zip(counts, self.shares, strict=True) if s >= 1)


class GpuRoom:
    """Answers how many environment workers fit on the GPUs beside given other workers.

    Args:
        gpu_shares: What is free of each GPU.
        demands: What one worker of each component asks for.
        most: Largest numbers that will be asked about.
    """

    def __init__(self, gpu_shares: tuple[Fraction, ...], demands: GpuDemands, most: Counts) -> None:
        self._demands = demands
        self._most = most
        self._opened = [share for share in gpu_shares if share < WHOLE]
        self._num_whole = len(gpu_shares) - len(self._opened)
        self._tables = self._tables_by_number_of_whole()

    def room(self, others: Counts) -> int:
        """Return the most environment workers beside the others, or a negative number."""
        own = self._demands.shares[3]
        left = self._num_whole - self._demands.num_whole(others)
        partial = self._demands.partial(others)
        if left < 0:
            return -1
        if own < 1:
            return self._shared_room(left, partial)
        fewest = next((m for m in range(left + 1) if self._shared_room(m, partial) >= 0), None)
        return -1 if fewest is None else min((left - fewest) // int(own), self._most.env)

    def _shared_room(self, num_whole: int, partial: Counts) -> int:
        """Return the most environment workers on opened GPUs and on so many whole ones."""
        room = room_at(self._tables[num_whole], *partial[:3])
        shares_gpus = 0 < self._demands.shares[3] < 1
        return self._most.env if room >= 0 and not shares_gpus else room

    def _tables_by_number_of_whole(self) -> list[RoomTable]:
        most = self._demands.partial(self._most)
        table = empty_place(most)
        for share in self._opened:
            table = together(table, device_table(share, self._demands, most), most)
        tables = [table]
        for _ in range(self._num_whole):
            tables.append(together(tables[-1], device_table(WHOLE, self._demands, most), most))
        return tables


@cache
def device_table(share: Fraction, demands: GpuDemands, most: Counts) -> RoomTable:
    """Return what fits on one GPU of which `share` is free; only parts of a GPU count."""
    table = empty_place(most)
    train, buffer, replica, env = demands.shares
    for t, b, v in product(*map(range, table.shape)):
        left = share - t * train - b * buffer - v * replica
        if left >= 0:
            table[t, b, v] = min(left // env, most.env) if most.env else 0
    return table
