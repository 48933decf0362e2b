from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pytest

from rlightning.errors import RoutingError
from rlightning.policy.utils.router import (
    AsyncRouter,
    NodeAffinityRouter,
    SimpleRouter,
    SyncNodeAffinityRouter,
    SyncRouter,
    SyncSimpleRouter,
    create_router,
    register_router,
)

POLICIES = ["a", "b"]


class FakeManager:
    def __init__(self, distribution: Any) -> None:
        self.distribution = distribution

    def get_component_distribution(self) -> Any:
        return self.distribution


MANAGER = FakeManager({"n": {"eval": {"ids": [0, 1]}, "env": {"ids": [0]}}})


class OwnAsyncRouter(AsyncRouter):
    def __init__(self, size: int = 1) -> None:
        self.size = size

    def assign(
        self, current_loads: Any, num_tasks: int, env_ids: Sequence[str] | None = None
    ) -> list[int]:
        return [self.size] * num_tasks


class OwnSyncRouter(SyncRouter):
    def select_policy(self, env_id: str | None = None) -> Any:
        return env_id


def new_type() -> str:
    """A name that no other test registers."""
    return f"own-{uuid.uuid4()}"


@pytest.mark.parametrize(
    ("rollout_mode", "router_type", "expected"),
    [
        ("sync", "simple", SyncSimpleRouter),
        ("sync", "node_affinity", SyncNodeAffinityRouter),
        ("async", "simple", SimpleRouter),
        ("async", "node_affinity", NodeAffinityRouter),
    ],
)
def test_mode_and_type_name_the_class(
    rollout_mode: str, router_type: str, expected: type[object]
) -> None:
    assert type(create_router(rollout_mode, router_type, POLICIES, MANAGER)) is expected


def test_options_reach_the_class() -> None:
    router = create_router("async", "node_affinity", POLICIES, MANAGER, spill_margin=3)
    assert "spill_margin=3" in repr(router)


@pytest.mark.parametrize("rollout_mode", ["sync", "async"])
@pytest.mark.parametrize(
    "manager", [None, FakeManager({}), FakeManager(None), FakeManager({"n": {}})]
)
def test_node_affinity_without_a_distribution_says_what_to_set(
    rollout_mode: str, manager: Any
) -> None:
    with pytest.raises(ValueError, match="set global_resource_manager") as error:
        create_router(rollout_mode, "node_affinity", POLICIES, manager)
    assert isinstance(error.value, RoutingError)


def test_a_manager_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="get_component_distribution"):
        create_router("sync", "node_affinity", POLICIES, object())
    with pytest.raises(TypeError, match="expected a mapping"):
        create_router("sync", "node_affinity", POLICIES, FakeManager([1]))


@pytest.mark.parametrize(
    ("rollout_mode", "router_type", "options", "says"),
    [
        ("asinc", "simple", {}, "did you mean 'async'"),
        (None, "simple", {}, "one of 'sync', 'async', got None"),
        ("sync", "node_afinity", {}, "did you mean 'node_affinity'"),
        ("sync", ["simple"], {}, "router_type"),
        ("async", "node_affinity", {"spil_margin": 1}, "did you mean 'spill_margin'"),
        ("sync", "simple", {"spill_margin": 1}, "got 'spill_margin'"),
        ("async", "node_affinity", {"component_distribution": {}}, "got 'component_distribution'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    rollout_mode: Any, router_type: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says) as error:
        create_router(rollout_mode, router_type, POLICIES, MANAGER, **options)
    assert isinstance(error.value, RoutingError)


def test_a_class_is_registered_with_its_options() -> None:
    name = new_type()
    register_router("async", name, OwnAsyncRouter)
    assert create_router("async", name, [], size=3).assign([0], 2) == [3, 3]  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="among size, got 'sice'"):
        create_router("async", name, [], sice=3)


@pytest.mark.parametrize(
    "factory",
    [
        lambda eval_policies, global_resource_manager: (eval_policies, global_resource_manager),
        lambda eval_policies, manager: (eval_policies, manager),
        lambda policies, manager, **options: (policies, manager),
        lambda *both, **options: both,
    ],
)
def test_a_factory_receives_policies_and_manager(factory: Any) -> None:
    name = new_type()
    register_router("sync", name, factory)
    assert create_router("sync", name, POLICIES, MANAGER) == (POLICIES, MANAGER)


def test_a_factory_may_ask_for_the_distribution_or_take_any_option() -> None:
    name = new_type()
    register_router(
        "sync", name, lambda component_distribution, **options: (component_distribution, options)
    )
    made: Any = create_router("sync", name, POLICIES, MANAGER, speed=2)
    assert made == (MANAGER.distribution, {"speed": 2})


def test_a_path_is_imported_when_first_asked_for() -> None:
    name = new_type()
    register_router("async", name, "rlightning.policy.utils.router:SimpleRouter")
    assert type(create_router("async", name, [])) is SimpleRouter


@pytest.mark.parametrize("path", ["no_such_module_here:Name", "rlightning.errors:NoSuchName"])
def test_a_path_that_leads_nowhere_is_refused_when_asked_for(path: str) -> None:
    name = new_type()
    register_router("async", name, path)
    with pytest.raises(ValueError, match="importable factory") as error:
        create_router("async", name, [])
    assert isinstance(error.value, RoutingError)


def test_a_path_to_something_that_cannot_be_called_is_refused() -> None:
    name = new_type()
    register_router("async", name, "rlightning.env_id:MAX_DIGITS")
    with pytest.raises(TypeError, match="expected a callable"):
        create_router("async", name, [])


@pytest.mark.parametrize(
    ("rollout_mode", "router_type", "factory", "error"),
    [
        ("sink", "mine", SimpleRouter, ValueError),
        ("sync", "simple", SyncSimpleRouter, ValueError),
        ("sync", "mine", "module.Name", ValueError),
        ("sync", "mine", ":Name", ValueError),
        ("sync", "mine", None, TypeError),
        ("sync", 3, SyncSimpleRouter, TypeError),
    ],
)
def test_a_registration_that_cannot_work_is_refused(
    rollout_mode: str, router_type: Any, factory: Any, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        register_router(rollout_mode, router_type, factory)
    assert isinstance(caught.value, RoutingError)


def test_a_router_of_ones_own_needs_only_its_choice() -> None:
    assert not any(OwnAsyncRouter().decision_counts.values())
    assert "OwnAsyncRouter" in repr(OwnAsyncRouter())
    router = OwnSyncRouter()
    router.notify_available()
    assert not any(router.decision_counts.values())
    assert "OwnSyncRouter(policies=?" in repr(router)
    for change in (router.add_policy, router.remove_policy):
        with pytest.raises(RoutingError, match="override add_policy"):
            change("p")
