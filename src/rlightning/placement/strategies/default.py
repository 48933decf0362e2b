"""Spread evenly: replicas over all nodes that can hold them, environments beside replicas."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.placement.bundles import most_bundles, most_replicas
from rlightning.placement.level import level_shares
from rlightning.placement.request import Counts
from rlightning.placement.room_table import NO_ROOM, RoomTable, room_at
from rlightning.placement.strategies.base import Strategy


class DefaultStrategy(Strategy):
    """Learners go where they cost rollouts least; then replicas and environments are levelled."""

    name = "default"

    def wishes(self, tables: Sequence[RoomTable], demand: Counts) -> list[Counts]:
        """Return an even share for each node."""
        hosts = level_hosts(tables, demand)
        return level_rollouts(tables, hosts, demand)


def level_hosts(tables: Sequence[RoomTable], demand: Counts) -> list[tuple[int, int]]:
    """Return learners and buffers of each node, each where it costs rollouts least."""
    hosts = [(0, 0)] * len(tables)
    for kind, count in enumerate(demand[:2]):
        for _ in range(count):
            hosts = _one_more(tables, hosts, kind, demand)
    return hosts


def _one_more(
    tables: Sequence[RoomTable], hosts: list[tuple[int, int]], kind: int, demand: Counts
) -> list[tuple[int, int]]:
    """Put one learner (kind 0) or buffer (kind 1) on the node with fewest, then the least loss."""
    offers = []
    for place, (table, host) in enumerate(zip(tables, hosts, strict=True)):
        grown = (host[0] + (kind == 0), host[1] + (kind == 1))
        before, after = (most_bundles(table, *each, demand) for each in (host, grown))
        if after != NO_ROOM:
            cost = (host[kind], before - after, before > 0, -after, place)
            offers.append((cost, grown))
    if not offers:
        return hosts
    (*_, place), grown = min(offers)
    return [*hosts[:place], grown, *hosts[place + 1 :]]


def level_rollouts(
    tables: Sequence[RoomTable], hosts: Sequence[tuple[int, int]], demand: Counts
) -> list[Counts]:
    """Return levelled replicas and their environment workers, beside given hosts."""
    replicas = _level_replicas(tables, hosts, demand)
    limits = [
        max(room_at(table, *host, own), 0)
        for table, host, own in zip(tables, hosts, replicas, strict=True)
    ]
    envs, left = level_shares(limits, demand.env, replicas)
    if left:
        spare = [limit - own for limit, own in zip(limits, envs, strict=True)]
        more, _ = level_shares(spare, left)
        envs = [own + added for own, added in zip(envs, more, strict=True)]
    return [Counts(*host, v, e) for host, v, e in zip(hosts, replicas, envs, strict=True)]


def _level_replicas(
    tables: Sequence[RoomTable], hosts: Sequence[tuple[int, int]], demand: Counts
) -> list[int]:
    if demand.eval == 0:
        return [0] * len(tables)
    pairs = list(zip(tables, hosts, strict=True))
    bundles = [max(most_bundles(table, *host, demand), 0) for table, host in pairs]
    shares, left = level_shares(bundles, demand.eval)
    if left:
        spare = [
            max(most_replicas(table, *host), 0) - own
            for (table, host), own in zip(pairs, shares, strict=True)
        ]
        more, _ = level_shares(spare, left)
        shares = [own + added for own, added in zip(shares, more, strict=True)]
    return shares
