"""Replicas of several planned pools that turned out to be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from rlightning.placement.plan import PlacedWorker


def choose_replicas(
    environments: Collection[PlacedWorker], planned: Sequence[PlacedWorker], eval_ids: Sequence[int]
) -> list[PlacedWorker]:
    """Return the places of the replicas of a pool, chosen from those that were planned.

    One after the other goes where most environment workers come on a replica; the first planned
    one among equals. So it stays within the room that the plan has reserved.

    Args:
        environments: Environment workers of the pool.
        planned: Replicas that were planned for them, at least as many as `eval_ids`.
        eval_ids: Ids of the replicas that there shall be.
    """
    envs = Counter(worker.node_id for worker in environments)
    taken: Counter[str] = Counter()
    left = list(planned)
    chosen = []
    for eval_id in eval_ids:
        best = max(left, key=lambda place: envs[place.node_id] / (taken[place.node_id] + 1))
        left.remove(best)
        taken[best.node_id] += 1
        chosen.append(replace(best, worker_id=eval_id))
    return chosen
