"""A plan of placement as a table and a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.table import Table

from rlightning.config.quantities import bytes_text, share_text
from rlightning.placement.crossing_share import crossing_share
from rlightning.placement.node_room import COMPONENT_ORDER
from rlightning.placement.plan import NodePlan, Plan
from rlightning.placement.plan_warnings import percent


def plan_table(plan: Plan) -> Table:
    """Return one row for each node: what runs there, and what stays free of what it has."""
    table = Table(title=f"strategy {plan.strategy}", title_justify="left")
    components = [name for name in COMPONENT_ORDER if getattr(plan.request.counts, name)]
    table.add_column("node", no_wrap=True)
    for component in components:
        table.add_column(component)
    for resource in ("CPUs free", "GPUs free", "memory free"):
        table.add_column(resource, justify="right")
    for node_plan in plan.nodes:
        table.add_row(
            node_plan.node.node_id,
            *(ids_text(node_plan.ids(component)) for component in components),
            *_free_texts(node_plan),
        )
    return table


def plan_summary(plan: Plan, routing_type: str, warnings: Sequence[str]) -> Iterator[str]:
    """Yield the share of requests that will cross nodes, and the warnings."""
    share = percent(crossing_share(plan, routing_type))
    yield f"requests that will cross nodes with routing.type={routing_type}: {share}"
    for warning in warnings:
        yield f"warning: {warning}"


def ids_text(ids: Sequence[int]) -> str:
    """Return ids as number and ranges: ``4: 0-2, 5``; ids in ascending order."""
    if not ids:
        return "-"
    ranges: list[list[int]] = []
    for worker_id in ids:
        if ranges and worker_id == ranges[-1][1] + 1:
            ranges[-1][1] = worker_id
        else:
            ranges.append([worker_id, worker_id])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in ranges]
    return f"{len(ids)}: {', '.join(texts)}"


def _free_texts(node_plan: NodePlan) -> tuple[str, str, str]:
    had, left = node_plan.node, node_plan.left
    memory = "not known"
    if had.memory_bytes is not None and left.memory_bytes is not None:
        memory = f"{bytes_text(left.memory_bytes)} of {bytes_text(had.memory_bytes)}"
    return _of(left.cpus, had.cpus), _of(left.gpus, had.gpus), memory


def _of(left: Fraction, had: Fraction) -> str:
    return f"{share_text(left)} of {share_text(had)}"
