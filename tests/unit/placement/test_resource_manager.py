"""The plan of a run over two nodes, and what happens to it when nodes go."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import Demand, PlacementRequest, Pool
from rlightning.placement.resource_manager import (
    LOCAL_NODE_ID,
    GlobalResourceManager,
    WorkerPlace,
    rounded_down,
)
from rlightning.placement.topology import Topology

# The learner and one pair of a replica and its environment worker on a, two pairs on b.
A, B, C = (Node.of(name, 4) for name in "abc")
ONE_POOL = PlacementRequest((Pool((0, 1, 2), (0, 1, 2)),))
TWO_POOLS = PlacementRequest((Pool((0, 1), (0, 1)), Pool((2, 3), (2, 3))), train_ids=())


def managed(request: PlacementRequest = ONE_POOL, *nodes: Node) -> GlobalResourceManager:
    return GlobalResourceManager(plan_placement(nodes or (A, B), request))


def nodes_of(manager: GlobalResourceManager, *workers: str) -> list[str | None]:
    return [manager.node_of(worker) for worker in workers]


def test_the_distribution_has_the_published_shape() -> None:
    assert managed().get_component_distribution() == {
        "a": {
            "train": {"count": 1, "ids": [0]},
            "eval": {"count": 1, "ids": [0]},
            "env": {"count": 1, "ids": [0]},
        },
        "b": {"eval": {"count": 2, "ids": [1, 2]}, "env": {"count": 2, "ids": [1, 2]}},
    }


def test_in_the_distribution_of_a_pool_replicas_are_numbered_from_0() -> None:
    manager = managed(TWO_POOLS)
    second = manager.of_pool(1).get_component_distribution()
    topology = Topology.from_component_distribution(second)
    assert dict(topology.eval_nodes) == {0: manager.node_of("eval-2"), 1: manager.node_of("eval-3")}
    assert sorted(topology.env_nodes) == [2, 3]
    assert manager.replica_ids_of_pools() == [["eval-0", "eval-1"], ["eval-2", "eval-3"]]


def test_within_one_process_everything_fits_on_the_one_node() -> None:
    demands = {"env": Demand(Fraction(10**6), Fraction(3), 10**15, "A100", {"no": "such"})}
    request = PlacementRequest((Pool((0, 1), (0,)),), demands=demands)
    manager = GlobalResourceManager.on_one_node(request)
    assert manager.get_component_distribution() == {
        LOCAL_NODE_ID: {
            "train": {"count": 1, "ids": [0]},
            "eval": {"count": 1, "ids": [0]},
            "env": {"count": 2, "ids": [0, 1]},
        }
    }


def test_each_worker_is_given_its_node_and_what_it_asked_for() -> None:
    demands = {"eval": Demand(Fraction(1, 3), Fraction(1, 9), 2**20)}
    gpus = Node("g", Fraction(8), (Fraction(1),))
    manager = managed(PlacementRequest((Pool((0,), (0,)),), demands=demands), gpus)
    assert manager.place_of("eval-0") == WorkerPlace("g", 0.3333, 0.1111, 2**20)
    assert manager.place_of("learner-0") == WorkerPlace("g", 1.0, 0.0, 0)
    assert manager.place_of("eval-1") is None


@pytest.mark.parametrize("parts", range(1, 100))
def test_parts_of_one_are_never_rounded_up(parts: int) -> None:
    part = rounded_down(Fraction(1, parts))
    assert parts * Fraction(part).limit_denominator(10_000) <= 1
    assert Fraction(1, parts) - Fraction(part) < Fraction(1, 10_000)


def test_B27_a_worker_on_another_node_than_planned_is_an_error_that_names_all_three() -> None:
    manager = managed()
    manager.record("env-0", "a")
    with pytest.raises(PlacementError, match="'eval-1' on node 'b'.*got it on 'a'"):
        manager.record("eval-1", "a")
    assert manager.node_of("eval-1") == "a", "routers go by where it really is"
    assert manager.get_component_distribution()["a"]["eval"]["ids"] == [0, 1]


def test_a_runtime_that_does_not_tell_nodes_is_believed_to_follow_the_plan() -> None:
    manager = managed()
    manager.record("eval-1", None)
    assert manager.node_of("eval-1") == "b"


def test_a_worker_that_is_no_part_of_the_plan_may_be_anywhere() -> None:
    manager = managed()
    manager.record("eval-9", "c")
    assert nodes_of(manager, "eval-9", "eval-10") == ["c", None]


def test_B22_no_room_is_an_error_that_names_what_is_missing_where() -> None:
    with pytest.raises(PlacementError, match=r"missing in sum: 2 CPUs\n  a: .*missing 1 CPU"):
        managed(ONE_POOL, Node.of("a", 1), Node.of("b", 1))


def test_a_worker_goes_back_to_its_node_while_that_lives() -> None:
    manager = managed(ONE_POOL, Node.of("a", 3), B)
    assert manager.choose_node("env-0", [Node.of("a", 3), B]) == "a"
    assert nodes_of(manager, "env-0") == ["a"]


def test_workers_of_a_lost_node_are_planned_anew_on_what_is_free() -> None:
    """Node a has one CPU free, c has three: room for a pair, so the replica goes there."""
    manager = managed()
    for worker in ("eval-1", "env-1", "eval-2", "env-2"):
        manager.record(worker, "b")
    left = [A, Node.of("c", 3)]
    assert manager.choose_node("eval-1", left) == "c"
    assert manager.choose_node("env-1", left) == "c"
    assert manager.choose_node("env-2", left) == "a"
    with pytest.raises(PlacementError, match="no node for worker eval 2") as refusal:
        manager.choose_node("eval-2", [A, Node.of("c", 2)])
    assert "missing 1 CPU" in str(refusal.value)
    for worker in ("eval-1", "env-1"):
        manager.record(worker, "c")
    assert manager.get_component_distribution()["c"] == {
        "eval": {"count": 1, "ids": [1]},
        "env": {"count": 1, "ids": [1]},
    }


def test_a_planned_move_is_no_mismatch() -> None:
    manager = managed()
    manager.record("env-1", "b")
    node_id = manager.choose_node("env-1", [A, C])
    manager.record("env-1", node_id)
    assert nodes_of(manager, "env-1") == [node_id]


def test_parts_of_gpus_are_planned_anew_on_the_gpu_that_has_them_free() -> None:
    half = Demand(Fraction(0), Fraction(1, 2))
    request = PlacementRequest((Pool((), (0, 1, 2)),), train_ids=(), demands={"eval": half})
    manager = managed(request, Node.of("a", 1, 1), Node.of("b", 1, 1))
    nodes = nodes_of(manager, "eval-0", "eval-1", "eval-2")
    crowded, other = max("ab", key=nodes.count), min("ab", key=nodes.count)
    first, second = [f"eval-{i}" for i, node_id in enumerate(nodes) if node_id == crowded]
    assert manager.choose_node(first, [Node.of(other, 1, 1)]) == other
    with pytest.raises(PlacementError, match="missing GPU|missing 1/2|missing 0.5"):
        manager.choose_node(second, [Node.of(other, 1, 1)])


def test_kinds_that_turn_out_equal_share_replicas_on_planned_places() -> None:
    manager = managed(TWO_POOLS, Node.of("a", 4), Node.of("b", 4))
    before = {manager.node_of(f"env-{i}") for i in range(4)}
    manager.settle_pools([[0, 1, 2, 3]])
    assert manager.replica_ids_of_pools() == [["eval-0", "eval-1"]]
    assert {manager.node_of("eval-0"), manager.node_of("eval-1")} == before == {"a", "b"}
    assert manager.place_of("eval-2") is None
    assert manager.request.counts.eval == 2


def test_pools_that_are_as_planned_stay_as_they_are() -> None:
    manager = managed(TWO_POOLS)
    before = manager.get_component_distribution()
    manager.settle_pools([[1, 0], [2, 3]])
    assert manager.get_component_distribution() == before


def test_a_replica_that_is_added_goes_where_environments_are_most_to_one_and_may_leave() -> None:
    request = PlacementRequest((Pool((0, 1, 2), (0, 1)),), train_ids=())
    manager = managed(request, Node.of("a", 9), Node.of("b", 9))
    crowd = max("ab", key=lambda n: nodes_of(manager, "env-0", "env-1", "env-2").count(n))
    assert manager.add_replica(0, [Node.of("a", 9), Node.of("b", 9)]) == "eval-2"
    assert manager.node_of("eval-2") == crowd
    assert manager.replica_ids_of_pools() == [["eval-0", "eval-1", "eval-2"]]
    manager.forget("eval-1")
    assert manager.replica_ids_of_pools() == [["eval-0", "eval-2"]]
    assert Topology.from_component_distribution(
        manager.of_pool(0).get_component_distribution()
    ).eval_nodes == {0: manager.node_of("eval-0"), 1: crowd}
    manager.forget("env-0")
    manager.forget("no such")
    assert manager.pools == (Pool((1, 2), (0, 2)),)


def test_a_replica_for_which_there_is_no_room_changes_nothing() -> None:
    manager = managed()
    before = manager.get_component_distribution()
    with pytest.raises(PlacementError, match="no node for worker eval 3"):
        manager.add_replica(0, [Node.of("a", 3)])
    assert manager.get_component_distribution() == before
    assert manager.pools == ONE_POOL.pools


def test_only_workers_of_the_run_are_planned_anew() -> None:
    with pytest.raises(PlacementError, match="expected a worker of this run, got 'env-7'"):
        managed().choose_node("env-7", [A])
