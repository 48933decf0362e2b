"""Divide the places of nodes among several kinds of environments."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.placement.level import level_shares
from rlightning.placement.request import Counts, Pool


def split_over_pools(counts: Sequence[Counts], pools: Sequence[Pool]) -> list[list[Counts]]:
    """Return for each pool what it gets of each node, mixed as evenly as the places allow.

    Learners and buffers go with the first pool. Environment workers go where a replica of their
    pool is, as long as there is room.

    Args:
        counts: What all pools together have on each node.
        pools: Their workers must be as many as `counts` says in sum.
    """
    replicas_left = [len(pool.eval_ids) for pool in pools]
    envs_left = [len(pool.env_ids) for pool in pools]
    shares: list[list[Counts]] = [[] for _ in pools]
    for own in counts:
        replicas, _ = level_shares(replicas_left, own.eval)
        beside, rest = level_shares(envs_left, own.env, replicas)
        envs_left = _minus(envs_left, beside)
        elsewhere, _ = level_shares(envs_left, rest)
        envs_left = _minus(envs_left, elsewhere)
        replicas_left = _minus(replicas_left, replicas)
        for number, share in enumerate(shares):
            hosts = own[:2] if number == 0 else (0, 0)
            share.append(Counts(*hosts, replicas[number], beside[number] + elsewhere[number]))
    return shares


def _minus(numbers: Sequence[int], taken: Sequence[int]) -> list[int]:
    return [own - gone for own, gone in zip(numbers, taken, strict=True)]
