from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rlightning.placement.node import Node
from rlightning.placement.plan import NodePlan, PlacedWorker, Plan
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.testing.plan_faults import plan_faults

DEMANDS = {"eval": Demand(gpus=Fraction(1, 2), memory_bytes=5)}
REQUEST = PlacementRequest((Pool((0, 1), (0, 1)),), demands=DEMANDS)
ROOMY = replace(Node.of("roomy", 5, 1), memory_bytes=10)


def test_a_plan_of_the_planner_has_no_faults() -> None:
    assert plan_faults(plan_placement([ROOMY], REQUEST)) == []


def test_each_resource_of_which_too_much_is_asked_is_a_fault() -> None:
    plan = plan_placement([ROOMY], REQUEST)
    small = replace(ROOMY, cpus=Fraction(4), gpu_shares=(Fraction(1, 2),), memory_bytes=9)
    crowded = replace(plan, nodes=(replace(plan.nodes[0], node=small),))
    assert plan_faults(crowded) == [
        "roomy: 5 of 4 CPUs",
        "roomy: 10 of 9 bytes",
        "roomy: 0 CPUs are said to be left",
        "roomy: 1 of 1/2 of GPU 0",
    ]


def test_a_worker_without_a_place_or_on_the_wrong_kind_of_node_is_a_fault() -> None:
    demands = {"env": Demand(cpus=Fraction(0), labels={"zone": "a"})}
    request = PlacementRequest((Pool((0,), (0,)),), demands=demands)
    node = Node.of("n0", 9)
    plan = Plan("none", request, (NodePlan(node, (PlacedWorker("env", 0, "n0"),), node),))
    assert plan_faults(plan) == [
        "placed are [('env', 0)]",
        "n0: a worker that wants None, {'zone': 'a'}",
    ]
