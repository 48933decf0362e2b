from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rlightning.engine.free_room import MAX_PLANS, plan_beside_others
from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.plan import Plan
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.placement.resource_manager import WorkerPlace
from rlightning.placement.taken_room import CPUS

NODES = (Node.of("a", 4), Node.of("b", 4))


class OtherWorkers:
    """Hold CPUs of nodes; whoever comes first of the rest gets what is left."""

    def __init__(self, **held: float) -> None:
        self._held = held
        self.num_checks = 0

    def __call__(self, places: Mapping[str, WorkerPlace]) -> dict[str, set[str]]:
        self.num_checks += 1
        free = {node.node_id: float(node.cpus) - self._held.get(node.node_id, 0) for node in NODES}
        lacking = {}
        for name, place in places.items():
            if free[place.node_id] >= place.num_cpus:
                free[place.node_id] -= place.num_cpus
            else:
                lacking[name] = {CPUS}
        return lacking


def plan_of(num_envs: int):
    pool = Pool(tuple(range(num_envs)), (0,))

    def plan(nodes: Sequence[Node]) -> Plan:
        return plan_placement(nodes, PlacementRequest((pool,)), "pack")

    return plan


def test_where_nobody_else_is_the_first_plan_is_taken() -> None:
    others = OtherWorkers()
    manager = plan_beside_others(plan_of(2), NODES, others)
    assert {manager.node_of(f"env-{i}") for i in range(2)} == {"a"}
    assert others.num_checks == 1


def test_workers_move_to_the_node_of_which_others_hold_nothing() -> None:
    manager = plan_beside_others(plan_of(2), NODES, OtherWorkers(a=4))
    assert {manager.node_of(name) for name in ("learner-0", "eval-0", "env-1")} == {"b"}


def test_what_others_leave_of_a_node_is_used() -> None:
    manager = plan_beside_others(plan_of(3), NODES, OtherWorkers(a=1, b=1))
    names = ["learner-0", "eval-0", "env-0", "env-1", "env-2"]
    assert sorted(str(manager.node_of(name)) for name in names).count("a") in (2, 3)


def test_without_room_the_error_names_worker_node_and_resource() -> None:
    with pytest.raises(PlacementError) as caught:
        plan_beside_others(plan_of(3), NODES, OtherWorkers(a=3, b=3))
    message = str(caught.value)
    assert "got room for" in message
    assert "missing in sum: 3 CPUs" in message
    assert "env-2 finds no 1 CPU on" in message


def test_who_finds_the_room_taken_again_and_again_gives_up() -> None:
    num_checks = 0

    def always_taken(places: Mapping[str, WorkerPlace]) -> dict[str, set[str]]:
        nonlocal num_checks
        num_checks += 1
        return {next(iter(places)): {CPUS}}

    roomy = [Node.of(f"n{i}", 20) for i in range(20)]
    with pytest.raises(PlacementError, match=r"(?s)room stays free.*finds no.*add nodes"):
        plan_beside_others(plan_of(2), roomy, always_taken)
    assert num_checks == MAX_PLANS
