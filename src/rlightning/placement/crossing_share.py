"""Which share of the requests will travel from one node to another."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from rlightning.placement.plan import Plan
from rlightning.placement.request import Pool

NODE_AFFINITY = "node_affinity"


def crossing_share(plan: Plan, routing_type: str) -> Fraction:
    """Return the share of requests that cross nodes, from 0 to 1, exactly.

    Every environment worker sends equally many requests. With ``node_affinity`` none leaves a
    node that has a replica of its pool (hard affinity), and without one, as with every other
    router, requests go to all replicas of the pool in equal parts.

    Args:
        plan: Who lives where.
        routing_type: As in ``routing.type``.
    """
    num_env_workers = sum(len(pool.env_ids) for pool in plan.request.pools)
    if not num_env_workers:
        return Fraction(0)
    crossing = sum(
        (_crossing_workers(plan, pool, routing_type) for pool in plan.request.pools), Fraction(0)
    )
    return crossing / num_env_workers


def _crossing_workers(plan: Plan, pool: Pool, routing_type: str) -> Fraction:
    """Return the share of crossing requests, summed over the environment workers of a pool."""
    replicas = Counter(plan.node_of("eval", eval_id) for eval_id in pool.eval_ids)
    nodes = [plan.node_of("env", env_id) for env_id in pool.env_ids]
    if not replicas:
        return Fraction(0)
    shares = (
        Fraction(0)
        if routing_type == NODE_AFFINITY and replicas[node_id]
        else 1 - Fraction(replicas[node_id], replicas.total())
        for node_id in nodes
    )
    return sum(shares, Fraction(0))
