"""Deal workers out so that the fullest place is as empty as can be."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction


def level_shares(
    limits: Sequence[int], count: int, weights: Sequence[int] | None = None
) -> tuple[list[int], int]:
    """Deal `count` workers one by one to the place with the fewest for its weight.

    Equals go to the place that can hold most, then to the first. O((n + count) log n).

    Args:
        limits: The most that each place takes.
        count: Workers to deal out.
        weights: Places of weight 0 get nothing; without weights all are equal.

    Returns:
        The number for each place, and how many found none.
    """
    own_weights = [1] * len(limits) if weights is None else list(weights)
    shares = [0] * len(limits)
    queue = [
        (Fraction(1, weight), -limit, place)
        for place, (limit, weight) in enumerate(zip(limits, own_weights, strict=True))
        if limit > 0 and weight > 0
    ]
    heapq.heapify(queue)
    left = count
    while left and queue:
        _, _, place = heapq.heappop(queue)
        shares[place] += 1
        left -= 1
        room = limits[place] - shares[place]
        if room > 0:
            key = Fraction(shares[place] + 1, own_weights[place])
            heapq.heappush(queue, (key, -room, place))
    return shares, left
