"""Plans for clusters with room: every strategy makes many, none asks too much of a node."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.testing.plan_faults import plan_faults


@st.composite
def roomy_clusters(draw: st.DrawFn) -> list[Node]:
    return [draw(roomy_nodes(f"n{i}")) for i in range(draw(st.integers(1, 5)))]


@st.composite
def roomy_nodes(draw: st.DrawFn, node_id: str) -> Node:
    return dataclasses.replace(
        Node.of(node_id, draw(st.integers(2, 12)), draw(st.integers(0, 4))),
        memory_bytes=draw(st.sampled_from([None, 6, 20])),
        accelerator_type=draw(st.sampled_from(["A100", "A100", "T4"])),
        labels=draw(st.sampled_from([{"zone": "a"}, {"zone": "a"}, {"zone": "b"}, {}])),
    )


@st.composite
def modest_requests(draw: st.DrawFn) -> PlacementRequest:
    modest = st.builds(
        Demand,
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]),
        st.sampled_from([Fraction(0)] * 4 + [Fraction(1, n) for n in (9, 7, 3, 2, 1)]),
        st.sampled_from([0, 0, 1, 2]),
        st.sampled_from([None, None, None, "A100"]),
        st.sampled_from([{}, {}, {}, {"zone": "a"}]),
    )
    demands = {name: draw(modest) for name in ("env", "eval", "train", "buffer")}
    num_envs, num_replicas = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    if draw(st.booleans()):
        pools = (Pool(tuple(range(num_envs)), tuple(range(num_replicas))),)
    else:
        middle = num_envs // 2
        pools = (
            Pool(tuple(range(middle)), (0,)),
            Pool(tuple(range(middle, num_envs)), tuple(range(1, 1 + num_replicas))),
        )
    return PlacementRequest(pools, (0,), tuple(range(draw(st.integers(0, 1)))), demands)


@st.composite
def manual_entries(draw: st.DrawFn) -> dict[str, dict[str, tuple[int, int]]]:
    entries: dict[str, dict[str, tuple[int, int]]] = {}
    for entry in draw(st.sets(st.sampled_from(["n0", "zone=a"]), min_size=1)):
        components = draw(st.sets(st.sampled_from(["env", "eval", "train"]), min_size=1))
        least = {component: draw(st.sampled_from([0, 0, 1])) for component in components}
        entries[entry] = {component: (number, 9) for component, number in least.items()}
    return entries


@pytest.mark.parametrize("strategy", ["default", "pack", "colocate", "disaggregate", "manual"])
@given(cluster=roomy_clusters(), request_=modest_requests(), entries=manual_entries())
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
def test_300_plans_stay_within_the_capacity_of_every_node(
    strategy: str,
    cluster: list[Node],
    request_: PlacementRequest,
    entries: dict[str, dict[str, tuple[int, int]]],
) -> None:
    """What cannot be planned is not counted: each strategy makes its 60 plans."""
    manual = entries if strategy == "manual" else None
    try:
        plan = plan_placement(cluster, request_, strategy, manual)
    except PlacementError:
        reject()
    assert plan_faults(plan) == []
