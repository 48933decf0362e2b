from __future__ import annotations

import pytest

from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.router_choice import router_factory
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.utils.router import (
    NodeAffinityRouter,
    SimpleRouter,
    SyncNodeAffinityRouter,
    SyncSimpleRouter,
    register_router,
)
from rlightning.testing.recorded_worker import RecordedWorker

MANAGER = GlobalResourceManager.on_one_node(PlacementRequest((Pool((0, 1), (0, 1, 2)),)))


def policies(*nodes: str | None) -> list[EvalPolicy]:
    submitter = TaskSubmitter(64)
    return [
        EvalPolicy(RecordedWorker(f"eval-{i}", node_id=node), submitter)
        for i, node in enumerate(nodes)
    ]


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        ("sync", "simple", SyncSimpleRouter),
        ("sync", "node_affinity", SyncNodeAffinityRouter),
        ("async", "simple", SimpleRouter),
        ("async", "node_affinity", NodeAffinityRouter),
    ],
)
@pytest.mark.parametrize("tie_break", ["lowest", "rotating"])
def test_the_configured_router_is_made_with_its_settings(mode, kind, expected, tie_break) -> None:
    seed = 3 if tie_break == "rotating" else None
    routing = RoutingConfig(
        mode=mode, type=kind, tie_break=tie_break, start_offset_seed=seed, timeout_seconds=7.0
    )
    router = router_factory(routing, MANAGER)(policies("local", "local", "local"))
    assert type(router) is expected


def test_the_nodes_of_those_that_are_left_are_passed_on() -> None:
    """After eval-0 left, position 0 is eval-1 on node b."""
    routing = RoutingConfig(mode="async", type="node_affinity", spill_margin=0)
    left = policies("a", "local", "b")[1:]
    router = router_factory(routing, MANAGER)(left)
    assert router.assign([0, 0], 1, ["env-0"]) == [0]
    assert router.assign([5, 0], 1, ["env-0"]) == [1]
    assert router.decision_counts["spilled"] == 1


def test_a_router_of_ones_own_gets_no_options() -> None:
    made = []

    class OwnRouter(SimpleRouter):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    register_router("async", "own-for-router-choice", OwnRouter)
    routing = RoutingConfig(mode="async", type="own-for-router-choice")
    assert router_factory(routing, MANAGER)(policies(None)) is made[0]
