from __future__ import annotations

from fractions import Fraction

import pytest

from rlightning.config.loading import load_config
from rlightning.engine.cluster_nodes import FINDERS, FoundNodes
from rlightning.engine.run_placement import (
    ROOM_CHECKS,
    Relocation,
    create_manager,
    num_cpus_asked,
    placement_request,
)
from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.placement.resource_manager import LOCAL_NODE_ID, GlobalResourceManager
from rlightning.testing.recorded_worker import RecordedWorker

CONFIG = load_config(
    "cartpole-ppo",
    ["cluster.backend=ray", "env.num_workers=3", "cluster.placement.eval={cpus: 0.25}"],
)


@pytest.fixture(autouse=True)
def _nobody_else_holds_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROOM_CHECKS, "ray", lambda places: {})


def request(*, is_guest: bool = False) -> PlacementRequest:
    return placement_request(CONFIG.cluster, CONFIG.env_configs, 2, is_guest=is_guest)


def test_the_cpus_of_all_workers_are_added_up_and_rounded_up() -> None:
    assert num_cpus_asked(request()) == 5  # 3 environments, 1 learner, 2 quarters


def test_a_guest_asks_for_nothing_and_so_fits_beside_the_run(monkeypatch) -> None:
    full = FoundNodes((Node.of("n", 0),))
    monkeypatch.setitem(FINDERS, "ray", lambda cluster, request: full)
    guest = create_manager(CONFIG.cluster, request(is_guest=True), is_guest=True)
    assert guest.node_of("learner-0") == "n"
    assert guest.request.demand("env").cpus == Fraction(0)
    with pytest.raises(PlacementError, match="cluster.placement"):
        create_manager(CONFIG.cluster, request())


def test_the_strategy_is_kept_to_on_a_cluster_and_in_one_process_all_live_together(
    monkeypatch,
) -> None:
    nodes = FoundNodes((Node.of("a", 8), Node.of("b", 8)))
    monkeypatch.setitem(FINDERS, "ray", lambda cluster, request: nodes)
    settings = ["cluster.placement.strategy=disaggregate", "env.num_workers=3"]
    apart = load_config("cartpole-ppo", ["cluster.backend=ray", *settings]).cluster
    manager = create_manager(apart, request())
    learner = manager.node_of("learner-0")
    assert {manager.node_of(f"env-{i}") for i in range(3)} == {"a", "b"} - {learner}
    together = create_manager(load_config("cartpole-ppo", settings).cluster, request())
    assert {together.node_of(name) for name in ("learner-0", "env-2")} == {LOCAL_NODE_ID}


class CountingGroup:
    """Counts how often its routers are made anew."""

    num_rebuilds = 0

    def rebuild_routers(self) -> None:
        self.num_rebuilds += 1


def test_routers_are_made_anew_only_when_a_worker_has_moved() -> None:
    nodes = [Node.of("a", 4), Node.of("b", 4)]
    plan = plan_placement(nodes, PlacementRequest((Pool((0, 1), (0, 1)),)))
    manager, policies = GlobalResourceManager(plan), CountingGroup()
    relocation = Relocation(manager, policies, lambda: nodes)
    home = manager.node_of("env-1")
    assert relocation.choose_node("env-1") == home
    relocation.joined(RecordedWorker("env-1", 2, home))
    assert policies.num_rebuilds == 0
    nodes[:] = [node for node in nodes if node.node_id != home] + [Node.of("c", 4)]
    moved_to = relocation.choose_node("env-1")
    assert moved_to != home
    for _ in range(2):
        relocation.joined(RecordedWorker("env-1", 3, moved_to))
    assert policies.num_rebuilds == 1


def test_a_node_that_is_called_alive_a_moment_longer_is_gone_all_the_same() -> None:
    nodes = [Node.of("a", 4), Node.of("b", 4)]
    plan = plan_placement(nodes, PlacementRequest((Pool((0, 1), (0, 1)),)))
    manager = GlobalResourceManager(plan)
    home = manager.node_of("env-1")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            nodes[:] = [node for node in nodes if node.node_id != home]

    relocation = Relocation(manager, CountingGroup(), lambda: nodes, sleep)
    assert relocation.is_node_gone("env-1")
    assert len(waits) == 3
    assert not relocation.is_node_gone("env-0")
    assert sum(waits) == pytest.approx(3.3)
