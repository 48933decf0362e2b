"""What a person should know about a plan before starting it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from rlightning.placement.crossing_share import NODE_AFFINITY, crossing_share
from rlightning.placement.plan import Plan
from rlightning.placement.request import Pool

_UNEVEN = 2
"""Environment workers per replica on the busiest node, over those on the idlest."""


def plan_warnings(plan: Plan, routing_type: str) -> list[str]:
    """Return one sentence for each thing that is allowed but hardly wanted.

    Args:
        plan: The plan.
        routing_type: As in ``routing.type``.
    """
    return [
        *_far_from_replicas(plan),
        *_better_with_affinity(plan, routing_type),
        *_without_environments(plan, routing_type),
        *_unequal_replicas(plan, routing_type),
        *_unused_nodes(plan),
        *_unknown_memory(plan),
        *_gpus_not_shared(plan),
    ]


def _far_from_replicas(plan: Plan) -> Iterator[str]:
    far = Counter(
        node_id
        for pool in plan.request.pools
        for node_id, (num_envs, num_replicas) in _by_node(plan, pool).items()
        for _ in range(num_envs if not num_replicas else 0)
    )
    for node_id, count in sorted(far.items()):
        yield (
            f"{_env_workers(count)} on {node_id} without a replica of their own there: all their "
            "requests cross nodes; more replicas (policy.num_eval_policies) or room for one there "
            "would keep them at home"
        )


def _better_with_affinity(plan: Plan, routing_type: str) -> Iterator[str]:
    now, then = (crossing_share(plan, kind) for kind in (routing_type, NODE_AFFINITY))
    if routing_type != NODE_AFFINITY and now > then:
        yield (
            f"routing.type={routing_type} sends {percent(now)} of the requests to another node; "
            f"routing.type=node_affinity would send {percent(then)}"
        )


def _without_environments(plan: Plan, routing_type: str) -> Iterator[str]:
    idle = sorted(
        node_id
        for pool in plan.request.pools
        for node_id, (num_envs, num_replicas) in _by_node(plan, pool).items()
        if num_replicas and not num_envs
    )
    if idle and routing_type == NODE_AFFINITY:
        yield (
            f"replicas on {', '.join(idle)} have no environment worker on their node: with "
            "node_affinity they are asked only by workers without a replica at home"
        )


def _unequal_replicas(plan: Plan, routing_type: str) -> Iterator[str]:
    for pool in plan.request.pools:
        loads = {
            node_id: Fraction(num_envs, num_replicas)
            for node_id, (num_envs, num_replicas) in _by_node(plan, pool).items()
            if num_envs and num_replicas
        }
        if not loads or routing_type != NODE_AFFINITY:
            continue
        busiest, idlest = max(loads, key=lambda n: loads[n]), min(loads, key=lambda n: loads[n])
        if loads[busiest] >= _UNEVEN * loads[idlest]:
            yield (
                f"a replica on {busiest} serves {float(loads[busiest]):.3g} environment workers, "
                f"one on {idlest} {float(loads[idlest]):.3g}: the busiest sets the pace of "
                "synchronous training"
            )


def _unused_nodes(plan: Plan) -> Iterator[str]:
    unused = [node_plan.node.node_id for node_plan in plan.nodes if not node_plan.workers]
    if unused and plan.strategy != "pack":
        shown = ", ".join(unused[:4]) + (f" and {len(unused) - 4} more" if unused[4:] else "")
        yield f"nothing runs on {shown}"


def _unknown_memory(plan: Plan) -> Iterator[str]:
    asks = [plan.request.demand(worker.component).memory_bytes for worker in plan.workers]
    unknown = [n.node.node_id for n in plan.nodes if n.node.memory_bytes is None]
    if any(asks) and unknown:
        yield f"the memory of {', '.join(unknown[:4])} is not known and was not checked"


def _gpus_not_shared(plan: Plan) -> Iterator[str]:
    whole = [
        component
        for component in ("train", "eval", "env")
        if plan.request.demand(component).gpus >= 1
    ]
    if plan.strategy == "colocate" and whole:
        yield (
            f"{' and '.join(whole)} ask for whole GPUs, so that nothing shares these; give them "
            "parts, such as 1/2"
        )


def _by_node(plan: Plan, pool: Pool) -> dict[str, tuple[int, int]]:
    """Return environment workers and replicas of a pool by node."""
    envs = Counter(plan.node_of("env", env_id) for env_id in pool.env_ids)
    replicas = Counter(plan.node_of("eval", eval_id) for eval_id in pool.eval_ids)
    order = [node_plan.node.node_id for node_plan in plan.nodes]
    return {n: (envs[n], replicas[n]) for n in order if envs[n] or replicas[n]}


def _env_workers(count: int) -> str:
    return "1 environment worker" if count == 1 else f"{count} environment workers"


def percent(share: Fraction) -> str:
    """Return a share in percent, such as ``50 %``."""
    return f"{float(share) * 100:.3g} %"
