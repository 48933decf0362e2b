"""The benchmark that compares plans with where Ray puts the workers, on a topology or two."""

from __future__ import annotations

import importlib
import random
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("ray")

from rlightning.cli.plan_table import plan_table
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest, Pool

ROOT = Path(__file__).resolve().parents[2]
SEED_WITH_PACK = 1
SEED_WITH_MANUAL = 4


@pytest.fixture
def topologies(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.topologies")


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [SEED_WITH_PACK, pytest.param(SEED_WITH_MANUAL, marks=pytest.mark.long)]
)
def test_ray_puts_every_worker_where_the_plan_says(topologies: ModuleType, seed: int) -> None:
    outcome = topologies.tried(seed)
    assert outcome.differences == []
    assert outcome.num_workers > 0


def test_the_printed_table_is_read_as_it_is_meant(topologies: ModuleType) -> None:
    from rich.console import Console

    nodes = [Node.of("n0", 6), Node.of("n1", 3)]
    request = PlacementRequest((Pool((0, 1, 2, 3), (0, 1)),))
    plan = plan_placement(nodes, request)
    console = Console(width=200, record=True, quiet=False, file=None)
    with console.capture() as captured:
        console.print(plan_table(plan))
    places = topologies.places_of_table(captured.get())
    assert places == topologies._places(plan.component_distribution())


def test_a_worker_elsewhere_and_one_that_is_not_there_are_differences(
    topologies: ModuleType,
) -> None:
    assert topologies.differences("reported", {"env-0": "b"}, {"env-0": "a", "env-1": "a"}) == [
        "env-0 is reported on b, planned on a",
        "env-1 is reported on None, planned on a",
    ]


def test_random_topologies_are_uneven_and_repeat_with_their_seed(topologies: ModuleType) -> None:
    drawn = [topologies.random_nodes(random.Random(seed)) for seed in range(20)]
    assert drawn[3] == topologies.random_nodes(random.Random(3))
    assert {len(nodes) for nodes in drawn} == {2, 3, 4}
    assert any(len({node.num_cpus for node in nodes}) > 1 for nodes in drawn)
