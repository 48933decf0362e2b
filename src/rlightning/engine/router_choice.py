"""From the block `routing` of the configuration to the router of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.router_factory import ROUTER_TYPES
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.membership import Router, RouterFactory
from rlightning.policy.utils.router import create_router


class ResourceManager(Protocol):
    """Knows where everything lives."""

    def get_component_distribution(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return who lives on which node, as the routers read it."""
        ...


def router_factory(config: RoutingConfig, manager: ResourceManager) -> RouterFactory:
    """Return what makes the configured router for a list of eval policies."""
    return partial(_create, config, manager)


def _create(
    config: RoutingConfig, manager: ResourceManager, policies: Sequence[EvalPolicy]
) -> Router:
    options = router_options(config, policies)
    present = _WithPolicies(manager, policies)
    return create_router(config.mode, config.type, policies, present, **options)


@dataclass(frozen=True, slots=True)
class _WithPolicies:
    """What a manager says, with the replicas that a router chooses from in their positions.

    Replicas come and go, so the one with id 3 may be the second of those that are left.
    """

    manager: ResourceManager
    policies: Sequence[EvalPolicy]

    def get_component_distribution(self) -> dict[str, dict[str, dict[str, Any]]]:
        planned = self.manager.get_component_distribution()
        distribution = {
            node_id: {name: entry for name, entry in components.items() if name != "eval"}
            for node_id, components in planned.items()
        }
        for position, policy in enumerate(self.policies):
            if policy.node_id is not None:
                components = distribution.setdefault(policy.node_id, {})
                ids = [*components.get("eval", {"ids": []})["ids"], position]
                components["eval"] = {"count": len(ids), "ids": ids}
        return {node_id: own for node_id, own in distribution.items() if own}


def find_router_type(config: RoutingConfig) -> object:
    """Return what makes the configured router.

    Raises:
        RoutingValueError: If the type is unknown or cannot be imported.
    """
    return ROUTER_TYPES.find(config.mode, config.type)


def router_options(config: RoutingConfig, policies: Sequence[EvalPolicy]) -> dict[str, Any]:
    """Return those settings that the configured router takes; registered ones take none."""
    if config.type not in ("simple", "node_affinity"):
        return {}
    options: dict[str, Any] = {"tie_break": config.tie_break}
    if config.start_offset_seed is not None:
        options["start_offset_seed"] = config.start_offset_seed
    if (config.mode, config.type) == ("sync", "simple"):
        options["timeout_seconds"] = config.timeout_seconds
    if (config.mode, config.type) == ("async", "node_affinity"):
        options["spill_margin"] = config.spill_margin
        options["policy_node_ids"] = [policy.node_id for policy in policies]
    return options
