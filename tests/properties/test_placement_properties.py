"""The planner holds for any cluster and any workers, not only for those one thinks of."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.placement.topology import Topology
from rlightning.testing.plan_faults import plan_faults

STRATEGIES = ("default", "pack", "colocate", "disaggregate")
CPUS = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2)])
GPUS = st.sampled_from([Fraction(n) for n in (0, 0, 1, 2)] + [Fraction(1, n) for n in (9, 3, 2)])
DEMANDS = st.builds(
    Demand,
    CPUS,
    GPUS,
    st.sampled_from([0, 0, 0, 3]),
    st.sampled_from([None, None, None, "A100"]),
    st.sampled_from([{}, {}, {}, {"zone": "a"}]),
)


@st.composite
def clusters(draw: st.DrawFn, max_nodes: int = 4) -> list[Node]:
    number = draw(st.integers(1, max_nodes))
    return [draw(nodes(f"n{i}")) for i in range(number)]


@st.composite
def nodes(draw: st.DrawFn, node_id: str) -> Node:
    num_gpus = draw(st.integers(0, 3))
    return dataclasses.replace(
        Node.of(node_id, draw(st.integers(0, 9)), num_gpus),
        memory_bytes=draw(st.sampled_from([None, 4, 20])),
        accelerator_type=draw(st.sampled_from([None, "A100", "T4"])),
        labels=draw(st.sampled_from([{}, {"zone": "a"}, {"zone": "b"}])),
    )


@st.composite
def requests(draw: st.DrawFn, max_pools: int = 2) -> PlacementRequest:
    num_envs = draw(st.lists(st.integers(0, 7), min_size=1, max_size=max_pools))
    num_replicas = draw(st.integers(0, 4))
    pools, first_env = [], 0
    for number, count in enumerate(num_envs):
        replicas = range(number * num_replicas, (number + 1) * num_replicas)
        pools.append(Pool(tuple(range(first_env, first_env + count)), tuple(replicas)))
        first_env += count
    demands = {name: draw(DEMANDS) for name in ("env", "eval", "train", "buffer")}
    hosts = [tuple(range(draw(st.integers(0, 2)))) for _ in range(2)]
    return PlacementRequest(tuple(pools), hosts[0], hosts[1], demands)


def _plan_or_none(
    cluster: list[Node], request: PlacementRequest, strategy: str = "default"
) -> Plan | None:
    try:
        return plan_placement(cluster, request, strategy)
    except PlacementError:
        return None


def _used(plan: Plan, node: Node) -> list[tuple[Demand, tuple[int, ...]]]:
    return [
        (plan.request.demand(worker.component), worker.gpu_indices)
        for worker in plan.workers
        if worker.node_id == node.node_id
    ]


@given(clusters(), requests(), st.sampled_from(STRATEGIES))
@settings(max_examples=300)
def test_no_node_is_above_its_capacity_and_everyone_has_one_place(
    cluster: list[Node], request: PlacementRequest, strategy: str
) -> None:
    plan = _plan_or_none(cluster, request, strategy)
    if plan is None:
        return
    assert plan_faults(plan) == []


@given(clusters(), requests(), st.sampled_from(STRATEGIES))
def test_what_is_left_of_a_node_is_what_nobody_uses(
    cluster: list[Node], request: PlacementRequest, strategy: str
) -> None:
    plan = _plan_or_none(cluster, request, strategy)
    for node_plan in plan.nodes if plan else ():
        used = _used(plan, node_plan.node) if plan else []
        assert node_plan.left.cpus == node_plan.node.cpus - sum(d.cpus for d, _ in used)
        assert node_plan.left.gpus == node_plan.node.gpus - sum(d.gpus for d, _ in used)


@given(clusters(), requests(), st.sampled_from(STRATEGIES))
def test_the_same_input_gives_the_same_plan(
    cluster: list[Node], request: PlacementRequest, strategy: str
) -> None:
    assert _plan_or_none(cluster, request, strategy) == _plan_or_none(cluster, request, strategy)


@given(clusters(), nodes("new"), requests(), st.sampled_from(STRATEGIES), st.data())
@settings(max_examples=300)
def test_a_plan_for_a_cluster_exists_for_the_same_with_a_node_added(
    cluster: list[Node], node: Node, request: PlacementRequest, strategy: str, data: st.DataObject
) -> None:
    if _plan_or_none(cluster, request, strategy) is None:
        return
    place = data.draw(st.integers(0, len(cluster)))
    grown = [*cluster[:place], node, *cluster[place:]]
    assert _plan_or_none(grown, request, strategy) is not None


@given(clusters(), nodes("new"), requests(max_pools=1), st.data())
def test_a_manual_plan_exists_for_the_same_with_a_node_added(
    cluster: list[Node], node: Node, request: PlacementRequest, data: st.DataObject
) -> None:
    entries = {"zone=a": {"env": data.draw(st.sampled_from([(0, 2), (1, 9), (2, 2)]))}}
    entries["n0"] = {"env": (0, 9), "eval": data.draw(st.sampled_from([(0, 9), (1, 2)]))}
    try:
        plan_placement(cluster, request, "manual", entries)
    except PlacementError:
        return
    grown = plan_placement([*cluster, node], request, "manual", entries)
    in_zone = {n.node_id for n in [*cluster, node] if n.labels.get("zone") == "a"} - {"n0"}
    num_envs = sum(len(n.ids("env")) for n in grown.nodes if n.node.node_id in in_zone)
    least, most = entries["zone=a"]["env"]
    assert least <= num_envs <= most


def _can_be_all_at_home(plan_nodes: list[Node], num_envs: int, num_replicas: int) -> bool:
    """Try every way to deal out workers of one CPU each."""
    slots = [int(node.cpus) for node in plan_nodes]
    ways = product(*(range(min(slot, num_replicas) + 1) for slot in slots))
    return any(
        sum(way) == num_replicas
        and sum(slot - own for slot, own in zip(slots, way, strict=True) if own) >= num_envs
        for way in ways
    )


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 8), st.integers(1, 4),
    st.sampled_from(["default", "pack"]),
)  # fmt: skip
@settings(max_examples=300)
def test_every_environment_has_a_replica_on_its_node_whenever_that_is_possible(
    slots: list[int], num_envs: int, num_replicas: int, strategy: str
) -> None:
    cluster = [Node.of(f"n{i}", slot) for i, slot in enumerate(slots)]
    pool = Pool(tuple(range(num_envs)), tuple(range(num_replicas)))
    plan = _plan_or_none(cluster, PlacementRequest((pool,), train_ids=()), strategy)
    has_room = sum(slots) >= num_envs + num_replicas
    assert (plan is not None) == has_room
    if plan and _can_be_all_at_home(cluster, num_envs, num_replicas):
        with_envs = {w.node_id for w in plan.workers if w.component == "env"}
        assert with_envs <= {w.node_id for w in plan.workers if w.component == "eval"}


@given(st.integers(1, 6), st.integers(0, 20), st.integers(0, 20))
def test_equal_nodes_with_room_hold_equally_many_replicas(
    num_nodes: int, num_envs: int, num_replicas: int
) -> None:
    cluster = [Node.of(f"n{i}", 64) for i in range(num_nodes)]
    pool = Pool(tuple(range(num_envs)), tuple(range(num_replicas)))
    plan = plan_placement(cluster, PlacementRequest((pool,)))
    counts = [len(node_plan.ids("eval")) for node_plan in plan.nodes]
    assert max(counts) - min(counts) <= 1


@given(clusters(), requests(), st.sampled_from(STRATEGIES))
def test_the_routers_can_read_where_everyone_lives(
    cluster: list[Node], request: PlacementRequest, strategy: str
) -> None:
    plan = _plan_or_none(cluster, request, strategy)
    if plan is None:
        return
    topology = Topology.from_component_distribution(plan.component_distribution())
    for worker in plan.workers:
        assert topology.nodes_by_component[worker.component][worker.worker_id] == worker.node_id
    for pool in request.pools:
        own = Topology.from_component_distribution(plan.component_distribution(pool))
        assert sorted(own.env_nodes) == sorted(pool.env_ids)
        assert sorted(own.eval_nodes) == list(range(len(pool.eval_ids)))


@given(clusters(), requests(), st.sampled_from(STRATEGIES))
def test_a_refusal_names_workers_and_every_node(
    cluster: list[Node], request: PlacementRequest, strategy: str
) -> None:
    try:
        plan_placement(cluster, request, strategy)
    except PlacementError as error:
        refusal = str(error)
        assert "got room for" in refusal
        assert all(f"{node.node_id}: free then:" in refusal for node in cluster)
        assert "missing" in refusal or "kept free by the strategy" in refusal


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(cluster=clusters(max_nodes=3), request_=requests(max_pools=1))
@settings(max_examples=60)
def test_a_strategy_keeps_its_rule(
    strategy: str, cluster: list[Node], request_: PlacementRequest
) -> None:
    plan = _plan_or_none(cluster, request_, strategy)
    for node_plan in plan.nodes if plan else ():
        has_rollouts = bool(node_plan.ids("env") or node_plan.ids("eval"))
        has_learner = bool(node_plan.ids("train"))
        assert not (strategy == "disaggregate" and has_rollouts and has_learner)
        assert not (strategy == "colocate" and has_rollouts and not has_learner)
