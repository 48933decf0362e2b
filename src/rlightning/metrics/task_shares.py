"""Who answered how much: requests added up by replica."""

from __future__ import annotations

from collections.abc import Mapping


def tasks_by_replica(tasks: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """Return the number of requests of each replica, in order of its id.

    Args:
        tasks: Requests by (environment worker id, replica id).
    """
    totals: dict[str, int] = {}
    for (_, replica_id), count in tasks.items():
        totals[replica_id] = totals.get(replica_id, 0) + count
    return {replica_id: totals[replica_id] for replica_id in sorted(totals, key=id_order)}


def id_order(worker_id: str) -> tuple[str, int]:
    """Return a sort key that puts ``eval-10`` behind ``eval-9``."""
    stem, _, number = worker_id.rpartition("-")
    return (stem, int(number)) if number.isdecimal() else (worker_id, -1)
