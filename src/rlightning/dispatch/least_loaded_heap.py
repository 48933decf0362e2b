"""The least loaded of some policies, while loads rise one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence


class LeastLoadedHeap:
    """A heap over policies whose loads, kept by the caller, only ever rise.

    An entry may lag behind its load; it is brought up to date when it comes to the top. So several
    heaps can share the same loads. Not safe from many threads.
    """

    def __init__(self, loads: Sequence[int], order: Iterable[int]) -> None:
        """Watch the policies in `order`; of equal loads the one that stands first wins. O(n)."""
        self._loads = loads
        self._heap = [(loads[seat], rank, seat) for rank, seat in enumerate(order)]
        heapq.heapify(self._heap)

    def least(self) -> int:
        """Return the index of the least loaded policy; O(log n) amortised per raised load."""
        while True:
            load, rank, seat = self._heap[0]
            if load == self._loads[seat]:
                return seat
            heapq.heapreplace(self._heap, (self._loads[seat], rank, seat))
