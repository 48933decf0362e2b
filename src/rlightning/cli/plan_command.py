"""`rlightning plan`: who would live where, without starting anything."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from rlightning.cli.arguments import Settings
from rlightning.cli.completion import complete_source
from rlightning.cli.error_border import reports_errors
from rlightning.cli.plan_table import plan_summary, plan_table
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.cluster_nodes import FoundNodes, find_nodes
from rlightning.placement.cluster_spec import nodes_of_specs
from rlightning.placement.plan_warnings import plan_warnings
from rlightning.placement.planner import plan_placement
from rlightning.placement.pools import env_ids_of_pools
from rlightning.placement.request import PlacementRequest, request_of

_WIDEST_TABLE = 1000


@reports_errors
def plan(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PRESET|FILE.yaml",
            help="A preset (`rlightning config` lists them) or the path of a YAML file.",
            autocompletion=complete_source,
        ),
    ],
    settings: Settings = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            metavar="8xcpu=64,gpu=8",
            help="Nodes to plan for: a number, and what each has: `cpu`, `gpu`, `memory`, `type`, "
            "`label.NAME`. May be given again for other nodes. Without it: the nodes found.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print where every worker of a run would live, without starting anything."""
    config = load_config(source, settings or [])
    placement = config.cluster.placement
    request = _request(config)
    found = _nodes(config, request, nodes)
    made = plan_placement(
        found.nodes, request, placement.strategy, placement.count_ranges() or None
    )
    console, table = Console(), plan_table(made)
    if not console.is_terminal:
        unbounded = console.options.update(max_width=_WIDEST_TABLE)
        console.width = max(console.width, console.measure(table, options=unbounded).maximum)
    console.print(table)
    warnings = [*found.notes, *_notes(request), *plan_warnings(made, config.routing.type)]
    for line in plan_summary(made, config.routing.type, warnings):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _request(config: RunConfig) -> PlacementRequest:
    return request_of(
        config.cluster.placement,
        env_ids_of_pools(config.env_configs),
        config.policy.num_eval_policies,
    )


def _nodes(config: RunConfig, request: PlacementRequest, specs: list[str] | None) -> FoundNodes:
    return FoundNodes(nodes_of_specs(specs)) if specs else find_nodes(config.cluster, request)


def _notes(request: PlacementRequest) -> list[str]:
    if len(request.pools) < 2:
        return []
    note = (
        f"{len(request.pools)} kinds of environment blocks are planned with replicas of their own "
        "each; kinds whose spaces turn out equal will share them"
    )
    return [note]
