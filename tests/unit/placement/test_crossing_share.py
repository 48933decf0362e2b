"""The share of requests that will cross nodes, and the warnings beside it."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from rlightning.placement.crossing_share import crossing_share
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.plan_warnings import plan_warnings
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool


def _plan(
    cpus: list[int], envs: int, replicas: int, strategy: str = "default", **demands: Demand
) -> Plan:
    cluster = [Node.of(f"n{i}", own, 1) for i, own in enumerate(cpus)]
    pool = Pool(tuple(range(envs)), tuple(range(replicas)))
    return plan_placement(cluster, PlacementRequest((pool,), demands=demands), strategy)


def test_round_robin_over_two_equal_nodes_crosses_half_the_time() -> None:
    plan = _plan([8, 8], 4, 2)
    assert crossing_share(plan, "simple") == Fraction(1, 2)
    assert crossing_share(plan, "node_affinity") == 0


def test_environments_without_a_replica_at_home_always_cross() -> None:
    plan = _plan([3, 2], 3, 1)
    # n0: the learner, the replica and one environment; n1: two environments
    assert crossing_share(plan, "node_affinity") == Fraction(2, 3)


@pytest.mark.parametrize(("envs", "replicas"), [(0, 2), (2, 0)])
def test_nothing_crosses_where_nobody_asks_or_nobody_answers(envs: int, replicas: int) -> None:
    assert crossing_share(_plan([8, 8], envs, replicas), "simple") == 0


def test_a_plan_without_flaws_has_no_warnings() -> None:
    assert plan_warnings(_plan([8, 8], 4, 2), "node_affinity") == []


@pytest.mark.parametrize(
    ("plan", "routing_type", "warning"),
    [
        (_plan([3, 2], 3, 1), "node_affinity", "2 environment workers on n1 without a replica"),
        (_plan([8, 8], 4, 2), "simple", "sends 50 % of the requests to another node"),
        (_plan([8, 8], 1, 2), "node_affinity", "replicas on n1 have no environment worker"),
        (
            _plan([5, 2], 5, 2, train=Demand(cpus=Fraction(0))),
            "node_affinity",
            "n0 serves 4 environment workers, one on n1 1",
        ),
        (_plan([8, 8], 1, 1), "node_affinity", "nothing runs on n1"),
        (_plan([8], 1, 1, env=Demand(memory_bytes=1)), "simple", "memory of n0 is not known"),
        (
            _plan([8], 1, 1, "colocate", train=Demand(gpus=Fraction(1))),
            "simple",
            "train ask for whole GPUs",
        ),
    ],
)
def test_what_is_hardly_wanted_is_said(plan: Plan, routing_type: str, warning: str) -> None:
    assert any(warning in each for each in plan_warnings(plan, routing_type))


def test_memory_that_is_known_gives_no_warning() -> None:
    node = dataclasses.replace(Node.of("a", 8), memory_bytes=100)
    pool = Pool((0,), (0,))
    request = PlacementRequest((pool,), demands={"env": Demand(memory_bytes=1)})
    assert plan_warnings(plan_placement([node], request), "simple") == []
