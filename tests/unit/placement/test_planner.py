"""Plans and refusals, each worked by hand."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import pytest

from rlightning.errors import ConfigError, PlacementError
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.testing.plan_faults import plan_faults

TWO_NODES = [Node.of("a", 8), Node.of("b", 8)]


def _request(envs: int, replicas: int, learners: int = 1, **demands: Demand) -> PlacementRequest:
    pool = Pool(tuple(range(envs)), tuple(range(replicas)))
    return PlacementRequest((pool,), tuple(range(learners)), demands=demands)


def _numbers(plan: Plan, component: str) -> list[int]:
    return [len(node_plan.ids(component)) for node_plan in plan.nodes]


def test_B26_four_policies_over_two_nodes_of_eight_slots_are_two_and_two() -> None:
    plan = plan_placement(TWO_NODES, _request(0, 4, learners=0))
    assert _numbers(plan, "eval") == [2, 2]


def test_the_distribution_has_the_published_shape() -> None:
    cluster = [Node.of("n0", 1), Node.of("n1", 6), Node.of("n2", 3), Node.of("n3", 0)]
    plan = plan_placement(cluster, _request(6, 3), "disaggregate")
    assert plan.component_distribution() == {
        "n0": {"train": {"count": 1, "ids": [0]}},
        "n1": {"eval": {"count": 2, "ids": [0, 1]}, "env": {"count": 4, "ids": [0, 1, 2, 3]}},
        "n2": {"eval": {"count": 1, "ids": [2]}, "env": {"count": 2, "ids": [4, 5]}},
    }


def test_default_gives_each_replica_the_same_number_of_environments() -> None:
    plan = plan_placement(TWO_NODES, _request(9, 3))
    # three replicas serve three environments each; the learner is on a, which has 7 CPUs left
    assert list(zip(_numbers(plan, "eval"), _numbers(plan, "env"), strict=True)) == [(1, 3), (2, 6)]


def test_default_fills_uneven_nodes_as_far_as_they_go() -> None:
    cluster = [Node.of("big", 32), Node.of("small", 3), Node.of("tiny", 1)]
    plan = plan_placement(cluster, _request(8, 4))
    # one replica with its two environments takes all of `small`; `tiny` cannot hold a pair
    assert _numbers(plan, "eval") == [3, 1, 0]
    assert _numbers(plan, "env") == [6, 2, 0]


def test_simulators_without_a_gpu_live_beside_replicas_with_one() -> None:
    cluster = [Node.of("cpu", 64), Node.of("gpu", 16, 1)]
    request = _request(8, 4, eval=Demand(Fraction(1), Fraction(1, 4)))
    plan = plan_placement(cluster, request)
    assert _numbers(plan, "train") == [1, 0]  # the node that replicas cannot use
    assert _numbers(plan, "eval") == [0, 4]
    assert _numbers(plan, "env") == [0, 8]


def test_nine_ninths_of_a_gpu_are_one_and_a_tenth_ninth_is_refused() -> None:
    ninth = Demand(Fraction(0), Fraction(1, 9))
    plan = plan_placement([Node.of("a", 1, 1)], _request(0, 9, eval=ninth))
    assert plan.nodes[0].left.gpus == 0
    with pytest.raises(PlacementError, match=r"room for 10 eval policies .* got room for 9 .* 1/9"):
        plan_placement([Node.of("a", 1, 1)], _request(0, 10, eval=ninth))


def test_parts_of_a_gpu_are_not_put_together_from_two() -> None:
    two_thirds = Demand(Fraction(0), Fraction(2, 3))
    with pytest.raises(PlacementError, match="got room for 2") as refusal:
        plan_placement([Node.of("a", 1, 2)], _request(0, 3, eval=two_thirds))
    # 2/3 GPUs are free in sum, but as 1/3 on each of the two
    assert "2/3 GPU (as 1/3 + 1/3); for one more: missing 1/3 GPU" in str(refusal.value)


def test_whole_gpus_are_not_shared_with_parts() -> None:
    request = _request(
        0, 3, train=Demand(Fraction(1), Fraction(2)), eval=Demand(Fraction(0), Fraction(1, 3))
    )
    plan = plan_placement([Node.of("a", 1, 3)], request)
    gpus = {(w.component, w.worker_id): w.gpu_indices for w in plan.workers}
    assert gpus["train", 0] == (1, 2)
    assert {gpus["eval", i] for i in range(3)} == {(0,)}


def test_more_environments_than_slots_are_refused_with_what_is_missing_where() -> None:
    with pytest.raises(PlacementError) as refusal:
        plan_placement(TWO_NODES, _request(14, 4))
    head, *node_lines, advice = str(refusal.value).splitlines()
    assert head == (
        "expected room for 14 environment workers beside 1 learner and 4 eval policies on 2 "
        "nodes, each with 1 CPU; got room for 11 with strategy 'default'; missing in sum: 3 CPUs"
    )
    assert node_lines == [
        "  a: free then: 0 CPUs, 0 GPUs; for one more: missing 1 CPU",
        "  b: free then: 0 CPUs, 0 GPUs; for one more: missing 1 CPU",
    ]
    assert "cluster.placement.env" in advice
    assert "env.num_workers" in advice


def test_environments_that_share_a_cpu_fit_where_whole_ones_do_not() -> None:
    third = Demand(Fraction(1, 3))
    plan = plan_placement(TWO_NODES, _request(33, 4, env=third))
    assert sum(_numbers(plan, "env")) == 33
    assert all(node_plan.left.cpus >= 0 for node_plan in plan.nodes)


@pytest.mark.parametrize(
    ("demand", "missing"),
    [
        (Demand(memory_bytes=2**33), "missing 4 GiB"),
        (Demand(accelerator_type="A100"), "missing accelerator type A100 (it has T4)"),
        (Demand(labels={"zone": "b"}), "missing label zone=b (it has a)"),
        (Demand(gpus=Fraction(1)), "missing 1 GPU"),
    ],
)
def test_a_refusal_names_the_resource_that_a_node_lacks(demand: Demand, missing: str) -> None:
    node = dataclasses.replace(
        Node.of("a", 8), memory_bytes=2**32, accelerator_type="T4", labels={"zone": "a"}
    )
    with pytest.raises(PlacementError) as refusal:
        plan_placement([node], _request(1, 0, learners=0, env=demand))
    assert missing in str(refusal.value)


def test_only_some_nodes_of_a_large_cluster_are_listed_in_a_refusal() -> None:
    cluster = [Node.of(f"n{i}", 1) for i in range(10)]
    with pytest.raises(PlacementError, match="and 2 nodes more"):
        plan_placement(cluster, _request(99, 1))


def test_pack_uses_as_few_nodes_as_possible() -> None:
    cluster = [Node.of("s", 4), Node.of("l", 13), Node.of("m", 8)]
    plan = plan_placement(cluster, _request(8, 4), "pack")
    assert [bool(node_plan.workers) for node_plan in plan.nodes] == [False, True, False]


def test_colocate_lets_everyone_share_nodes_and_a_gpu() -> None:
    half, quarter = Demand(gpus=Fraction(1, 2)), Demand(gpus=Fraction(1, 4))
    cluster = [Node.of("a", 8, 1), Node.of("b", 8, 1), Node.of("c", 8, 1)]
    plan = plan_placement(
        cluster, _request(2, 2, learners=2, train=half, eval=quarter, env=quarter), "colocate"
    )
    assert [_numbers(plan, c) for c in ("train", "eval", "env")] == [[1, 1, 0]] * 3
    assert [node_plan.left.gpus for node_plan in plan.nodes] == [0, 0, 1]


def test_colocate_says_why_it_cannot() -> None:
    with pytest.raises(PlacementError, match="live only on nodes with a learner") as refusal:
        plan_placement(TWO_NODES, _request(8, 4), "colocate")
    assert "b: free then: 8 CPUs, 0 GPUs; for one more: kept free by the strategy" in str(
        refusal.value
    )


def test_disaggregate_needs_a_second_node() -> None:
    with pytest.raises(PlacementError, match="learners live on nodes without"):
        plan_placement(TWO_NODES[:1], _request(2, 1), "disaggregate")


def test_kinds_of_environments_live_beside_replicas_of_their_own() -> None:
    pools = (Pool((0, 1, 4), (0, 1)), Pool((2, 3), (2, 3)))
    plan = plan_placement(TWO_NODES, PlacementRequest(pools))
    for pool in pools:
        at_home = {plan.node_of("eval", i) for i in pool.eval_ids}
        assert {plan.node_of("env", i) for i in pool.env_ids} <= at_home
    assert [n.get("eval") for n in plan.component_distribution(pools[1]).values()] == [
        {"count": 1, "ids": [0]},
        {"count": 1, "ids": [1]},
    ]


def test_what_is_left_can_be_planned_for_again() -> None:
    plan = plan_placement(TWO_NODES, _request(4, 2))
    one_more = PlacementRequest((Pool((4,), (2,)),), train_ids=())
    again = plan_placement(plan.nodes_left, one_more)
    assert again.node_of("env", 4) == again.node_of("eval", 2)


@pytest.mark.parametrize(
    ("cluster", "request_", "message"),
    [
        ([], _request(1, 1), "at least one node"),
        ([Node.of("a", 1), Node.of("a", 1)], _request(1, 1), "'a' twice"),
        (TWO_NODES, PlacementRequest((Pool((0, 0), (0,)),)), "env ids that are unique"),
        (TWO_NODES, PlacementRequest((Pool((0,), (-1,)),)), "eval ids that are unique"),
    ],
)
def test_what_cannot_be_is_refused(cluster: Any, request_: Any, message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        plan_placement(cluster, request_)


def test_a_node_or_a_worker_without_sense_is_refused() -> None:
    with pytest.raises(PlacementError, match="at least 0"):
        Node("a", Fraction(-1))
    with pytest.raises(PlacementError, match="whole GPUs"):
        Demand(gpus=Fraction(3, 2))


def test_an_unknown_strategy_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'pack'"):
        plan_placement(TWO_NODES, _request(1, 1), "pakc")
    with pytest.raises(ConfigError, match="entries with the strategy 'manual'"):
        plan_placement(TWO_NODES, _request(1, 1), "manual")


def test_parts_of_gpus_of_two_kinds_that_fit_only_together_have_each_a_gpu() -> None:
    """Five thirds and four halves on four GPUs: laid out kind by kind, a half finds no GPU."""
    nodes = [Node.of("n0", 2, 1), Node.of("n1", 2, 1), Node.of("n2", 2, 2)]
    demands = {
        "env": Demand(Fraction(0), Fraction(1, 3)),
        "eval": Demand(Fraction(0), Fraction(1, 2)),
        "train": Demand(Fraction(0)),
    }
    pools = (Pool((0, 1), (0,)), Pool((2, 3, 4), (1, 2, 3)))
    plan = plan_placement(nodes, PlacementRequest(pools, (0,), (), demands))
    assert plan_faults(plan) == []
