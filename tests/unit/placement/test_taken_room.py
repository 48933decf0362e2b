from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.placement.taken_room import CPUS, GPUS, MEMORY, taken_nodes, with_taken

NODES = (
    replace(Node.of("a", 6, 2), memory_bytes=100),
    replace(Node.of("b", 2, 2), memory_bytes=100),
)
DEMANDS = {"eval": Demand(gpus=Fraction(1, 2), memory_bytes=10), "env": Demand(memory_bytes=5)}
PLAN = plan_placement(NODES, PlacementRequest((Pool((0, 1, 2), (0, 1)),), demands=DEMANDS), "pack")


def test_the_plan_is_the_one_that_the_numbers_below_suppose() -> None:
    assert [len(node_plan.workers) for node_plan in PLAN.nodes] == [6, 0]


def test_of_what_lacked_only_what_others_of_the_plan_found_is_free() -> None:
    (taken,) = taken_nodes(PLAN, {"env-1": {CPUS}, "eval-1": {GPUS}})
    assert taken.node == replace(
        NODES[0],
        cpus=Fraction(4),  # six of which two lacked room
        gpu_shares=(Fraction(1, 2), Fraction(0)),
    )


def test_memory_that_lacked_leaves_the_other_resources_as_they_were() -> None:
    (taken,) = taken_nodes(PLAN, {"env-0": [MEMORY]})
    assert taken.node == replace(NODES[0], memory_bytes=2 * 10 + 2 * 5)


def test_each_shortage_names_worker_node_and_resource() -> None:
    (taken,) = taken_nodes(PLAN, {"eval-0": [MEMORY, GPUS], "learner-0": [CPUS]})
    assert taken.shortages == (
        "learner-0 finds no 1 CPU on a: others hold it",
        "eval-0 finds no 0.5 GPU, 10 B on a: others hold it",
    )


def test_nodes_of_which_others_hold_nothing_stay_as_they_are() -> None:
    taken = list(taken_nodes(PLAN, {"env-1": {CPUS}}))
    assert with_taken(NODES, taken) == (taken[0].node, NODES[1])
    assert list(taken_nodes(PLAN, {})) == []
