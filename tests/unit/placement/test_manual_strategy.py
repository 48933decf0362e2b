"""Counts and ranges by node and label are kept to, or refused."""

from __future__ import annotations

import dataclasses

import pytest

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.placement.strategies.manual import CountRanges


def _cluster() -> list[Node]:
    labelled = [
        dataclasses.replace(Node.of(name, 6), labels={"pool": "rollout"}) for name in ("r0", "r1")
    ]
    return [Node.of("head", 8), *labelled]


def _plan(entries: CountRanges, envs: int = 6, replicas: int = 2) -> Plan:
    pool = Pool(tuple(range(envs)), tuple(range(replicas)))
    return plan_placement(_cluster(), PlacementRequest((pool,)), "manual", entries)


def _numbers(plan: Plan) -> dict[str, tuple[int, ...]]:
    return {
        n.node.node_id: tuple(len(n.ids(c)) for c in ("train", "eval", "env")) for n in plan.nodes
    }


def test_counts_of_a_label_hold_for_its_nodes_together() -> None:
    entries = {"head": {"train": (1, 1)}, "pool=rollout": {"eval": (2, 2), "env": (6, 6)}}
    assert _numbers(_plan(entries)) == {"head": (1, 0, 0), "r0": (0, 1, 3), "r1": (0, 1, 3)}


def test_the_id_of_a_node_goes_before_its_label() -> None:
    entries = {"pool=rollout": {"env": (5, 5)}, "r0": {"env": (1, 1)}}
    assert [own[2] for own in _numbers(_plan(entries, replicas=3)).values()] == [0, 1, 5]


def test_ranges_are_kept() -> None:
    entries = {"head": {"env": (0, 1)}, "r0": {"env": (2, 9)}, "r1": {"env": (3, 3)}}
    numbers = [own[2] for own in _numbers(_plan(entries)).values()]
    assert sum(numbers) == 6
    assert numbers[0] <= 1
    assert numbers[1] >= 2
    assert numbers[2] == 3


def test_who_is_named_nowhere_may_live_anywhere() -> None:
    numbers = _numbers(_plan({"r1": {"env": (5, 5)}}, envs=5, replicas=2))
    assert numbers["r1"][2] == 5
    assert sum(own[1] for own in numbers.values()) == 2


def test_an_entry_for_no_node_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PlacementError, match=r"got 'haed'.*did you mean 'head'"):
        _plan({"haed": {"env": (6, 6)}})


@pytest.mark.parametrize(("counts", "got"), [((7, 9), "at least 7"), ((0, 5), "at most 5")])
def test_counts_that_do_not_add_up_are_refused(counts: tuple[int, int], got: str) -> None:
    with pytest.raises(PlacementError, match=f"to place 6 env workers, got {got}"):
        _plan({"r0": {"env": counts}})


def test_an_entry_without_room_is_named() -> None:
    with pytest.raises(PlacementError, match=r"7 environment workers on r0 \(1 node\)"):
        _plan({"r0": {"env": (7, 7)}}, envs=7)


def test_entries_that_fit_only_one_by_one_are_refused_together() -> None:
    entries = {"r0": {"env": (0, 20), "eval": (0, 2)}, "r1": {"env": (0, 20), "eval": (0, 2)}}
    with pytest.raises(PlacementError, match="each possible but not all together"):
        _plan(entries, envs=14)


def test_several_kinds_of_environments_keep_to_the_counts_together() -> None:
    pools = (Pool((0, 1), (0,)), Pool((2, 3), (1,)))
    entries = {"r0": {"env": (3, 3)}, "r1": {"env": (1, 1)}}
    plan = plan_placement(_cluster(), PlacementRequest(pools), "manual", entries)
    assert [own[2] for own in _numbers(plan).values()] == [0, 3, 1]
