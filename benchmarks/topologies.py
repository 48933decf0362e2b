"""Whether Ray puts every worker where `rlightning plan` says, on random clusters of raylets.

Each topology starts a cluster of two to four raylets with CPUs, GPUs, memory and labels of their
own, draws settings of a run until they fit there, and starts its workers on the way that a run
takes, with objects that only tell on which node they are. Compared are, for each worker: what the
command prints, the plan, what the manager says afterwards, and what the actor says of itself.

    python -m benchmarks.topologies [--topologies N] [--first-seed N]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import ray
from ray.cluster_utils import Cluster
from typer.testing import CliRunner

from benchmarks.bar import Bar
from benchmarks.node_reporter import NodeReporter
from benchmarks.random_topology import STRATEGIES, RandomNode, random_nodes, random_settings
from rlightning.cli.main import app
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.cluster_nodes import find_nodes
from rlightning.engine.placed_runtime import PlacedRuntime
from rlightning.engine.run_placement import create_manager, placement_request
from rlightning.engine.runtime_choice import create_runtime
from rlightning.errors import ConfigError, PlacementError
from rlightning.placement.plan import ComponentDistribution
from rlightning.placement.request import PlacementRequest
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.placement.worker_names import worker_name
from rlightning.runtime.base import WorkerHandle, WorkerSpec
from rlightning.testing.ray_leftovers import ray_home

NUM_TOPOLOGIES = 20
MAX_DRAWS = 1_000
SECONDS_TO_ANSWER = 60.0
COMPONENTS = ("train", "eval", "env")

Places = dict[str, str]
"""Names of workers, each with the id of its node."""


@dataclass(frozen=True)
class Outcome:
    """One topology: who was asked, and where they said different things.

    Attributes:
        seed: Of the topology.
        nodes: Of its cluster.
        strategy: Of the plan.
        num_workers: How many were started.
        differences: One line for each worker of which two sources say different things.
        seconds: From the start of the cluster to its end.
    """

    seed: int
    nodes: Sequence[RandomNode]
    strategy: str
    num_workers: int
    differences: Sequence[str]
    seconds: float

    def __str__(self) -> str:
        nodes = "  ".join(str(node) for node in self.nodes)
        found = "; ".join(self.differences) or "as planned"
        return (
            f"{self.seed:>3}  {self.strategy:<12} {self.num_workers:>2} workers {found} "
            f"({self.seconds:.0f} s)  [{nodes}]"
        )


def main(arguments: Sequence[str]) -> int:
    """Try the topologies, print a line for each, and the sum."""
    parser = argparse.ArgumentParser("python -m benchmarks.topologies", description=__doc__)
    parser.add_argument("--topologies", type=int, default=NUM_TOPOLOGIES)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.topologies)
    (bar,) = _bars(seeds)
    print(f"{bar.name}: {bar.figure}")
    return int(not bar.is_met)


def topology_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Try twenty topologies, or two."""
    yield from _bars(range(2 if is_quick else NUM_TOPOLOGIES))


def _bars(seeds: Sequence[int]) -> Iterator[Bar]:
    outcomes = []
    with ray_home():
        for seed in seeds:
            outcomes.append(tried(seed))
            print(f"  {outcomes[-1]}", flush=True)
    num_good = sum(not outcome.differences for outcome in outcomes)
    num_workers = sum(outcome.num_workers for outcome in outcomes)
    yield Bar(
        "every worker is on the node that `rlightning plan` names",
        "python -m benchmarks.topologies",
        f"{num_good} of {len(outcomes)} random topologies, {num_workers} workers",
        num_good == len(outcomes),
    )


def tried(seed: int) -> Outcome:
    """Start the cluster of one topology, place a run on it, compare, and end it."""
    started = time.monotonic()
    draw = random.Random(seed)  # noqa: S311 - reproducible, not secret
    nodes, strategy = random_nodes(draw), STRATEGIES[seed % len(STRATEGIES)]
    cluster = Cluster(initialize_head=True, head_node_args=nodes[0].arguments())
    try:
        for node in nodes[1:]:
            cluster.add_node(**node.arguments())
        ray.init(address=cluster.address, configure_logging=False, log_to_driver=False)
        num_workers, differences = _compared(cluster.address, draw, strategy)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return Outcome(seed, nodes, strategy, num_workers, differences, time.monotonic() - started)


def _compared(address: str, draw: random.Random, strategy: str) -> tuple[int, list[str]]:
    settings, config, request, manager = _fitting_run(address, draw, strategy)
    planned = _places(manager.get_component_distribution())
    printed = _printed_places(settings)
    with create_runtime(config.cluster) as runtime:
        handles = _started(PlacedRuntime(runtime, manager), request)
        answers = {handle.worker_id: handle.call("node_id") for handle in handles}
        reported = {name: task.result(SECONDS_TO_ANSWER) for name, task in answers.items()}
        managed = _places(manager.get_component_distribution())
    sources = {"printed": printed, "managed": managed, "reported": reported}
    return len(planned), [
        line for source, places in sources.items() for line in differences(source, places, planned)
    ]


def _fitting_run(
    address: str, draw: random.Random, strategy: str
) -> tuple[list[str], RunConfig, PlacementRequest, GlobalResourceManager]:
    """Draw settings until their workers fit on the cluster."""
    joined = ["cluster.backend=ray", f"cluster.address={address}"]
    first = load_config("cartpole-ppo", joined)
    nodes = find_nodes(first.cluster, _request(first)).nodes
    for _ in range(MAX_DRAWS):
        settings = [*joined, *random_settings(draw, strategy, nodes)]
        try:
            config = load_config("cartpole-ppo", settings)
            manager = create_manager(config.cluster, _request(config))
        except (ConfigError, PlacementError):
            continue
        return settings, config, _request(config), manager
    raise PlacementError(
        f"expected settings that fit within {MAX_DRAWS} draws, got none; choose another seed"
    )


def _request(config: RunConfig) -> PlacementRequest:
    return placement_request(config.cluster, config.env_configs, config.policy.num_eval_policies)


def _started(runtime: PlacedRuntime, request: PlacementRequest) -> list[WorkerHandle]:
    """Start the workers as a run does: environments first, then those who serve them."""
    names = {
        "env": [own for pool in request.pools for own in pool.env_ids],
        "eval": [own for pool in request.pools for own in pool.eval_ids],
        "train": request.train_ids,
    }
    specs = {
        component: [WorkerSpec(worker_name(component, own), NodeReporter) for own in ids]
        for component, ids in names.items()
    }
    environments = list(runtime.spawn_all(specs["env"]))
    return [*environments, *runtime.spawn_all([*specs["eval"], *specs["train"]])]


def _places(distribution: ComponentDistribution) -> Places:
    return {
        worker_name(component, own): node_id
        for node_id, components in distribution.items()
        for component, entry in components.items()
        for own in entry["ids"]
    }


def _printed_places(settings: Sequence[str]) -> Places:
    """Run `rlightning plan` and read its table."""
    answer = CliRunner().invoke(app, ["plan", "cartpole-ppo", *settings])
    if answer.exit_code:
        return {"rlightning plan": answer.output.strip()}
    return places_of_table(answer.stdout)


def places_of_table(text: str) -> Places:
    """Return who lives where, by the table that `rlightning plan` prints."""
    rows = [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in text.splitlines()]
    header, *body = [row for row in rows if row]
    columns = {name: header.index(name) for name in COMPONENTS}
    return {
        worker_name(component, own): row[0]
        for row in body
        for component, column in columns.items()
        for own in _ids(row[column])
    }


def _ids(cell: str) -> Iterator[int]:
    """Read a cell such as ``4: 0-2, 5``."""
    _, _, ranges = cell.partition(": ")
    for part in filter(None, ranges.split(", ")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def differences(source: str, places: Mapping[str, str], planned: Mapping[str, str]) -> list[str]:
    """Return a line for each worker that is planned elsewhere, or known to one side only."""
    return [
        f"{name} is {source} on {places.get(name)}, planned on {planned.get(name)}"
        for name in sorted({*places, *planned})
        if places.get(name) != planned.get(name)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
