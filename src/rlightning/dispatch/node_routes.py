"""Which policies answer an env, node by node, while policies come and go."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from rlightning.dispatch.decision_counts import (
    BALANCED,
    LOCAL,
    NODE_WITHOUT_POLICY,
    UNKNOWN_ENV,
    no_decisions,
)
from rlightning.dispatch.policy_pool import PolicyPool
from rlightning.dispatch.policy_pool_errors import (
    absent_policy_error,
    no_policies_error,
    present_policy_error,
    short_repr,
)
from rlightning.dispatch.rotation import Rotation
from rlightning.env_id import NUM_REMEMBERED, worker_index_of
from rlightning.errors import RoutingTypeError
from rlightning.placement.topology import Topology


class Route:
    """Policies in turn, and why an env was sent to them.

    Attributes:
        rotation: The policies; its lock guards `num_decisions` too.
        reason: One of the reasons for decisions.
        num_decisions: How often this route was taken.
    """

    __slots__ = ("num_decisions", "reason", "rotation")

    def __init__(self, rotation: Rotation[Any], reason: str) -> None:
        """Begin with no decisions."""
        self.rotation = rotation
        self.reason = reason
        self.num_decisions = 0


class NodeRoutes(PolicyPool):
    """Env id → route. Safe from many threads.

    Finding a route takes no lock, taking a policy the one of its rotation.
    """

    def __init__(self, policies: Sequence[Any], topology: Topology, start_seed: int | None) -> None:
        """Place policy i where the topology has eval id i; the rest serve fallbacks only.

        No object stands twice in `policies`.
        """
        self._env_nodes = topology.env_nodes
        self._start_seed = start_seed
        self._membership_lock = Lock()
        everyone = Rotation(policies, start_seed)
        self._everyone = {
            reason: Route(everyone, reason)
            for reason in (UNKNOWN_ENV, NODE_WITHOUT_POLICY, BALANCED)
        }
        self._node_by_policy = {
            id(policy): topology.eval_nodes.get(eval_id) for eval_id, policy in enumerate(policies)
        }
        residents: dict[str, list[Any]] = {}
        for policy, node_id in zip(policies, self._node_by_policy.values(), strict=True):
            if node_id is not None:
                residents.setdefault(node_id, []).append(policy)
        self._local = {
            node_id: Route(Rotation(items, start_seed), LOCAL)
            for node_id, items in residents.items()
        }
        self._remembered: dict[str | None, Route] = {}

    @property
    def policies_by_node(self) -> dict[str, Sequence[Any]]:
        """Policies of each node that has one."""
        return {
            node_id: tuple(route.rotation.items)
            for node_id, route in list(self._local.items())
            if route.rotation.items
        }

    @property
    def decision_counts(self) -> dict[str, int]:
        """A fresh count of decisions by reason."""
        counts = no_decisions()
        for route in [*self._everyone.values(), *list(self._local.values())]:
            counts[route.reason] += route.num_decisions
        return counts

    def describe(self) -> str:
        """Return all policies, and those of each node."""
        everyone = list(self._everyone[BALANCED].rotation.items)
        return f"policies={short_repr(everyone)}, nodes={short_repr(self.policies_by_node)}"

    def take(self, env_id: str | None) -> Any:
        """Return the policy whose turn it is for an env, and count the decision. O(1).

        Raises:
            RoutingTypeError: If the env id is neither a string nor None.
            RoutingValueError: If there are no policies.
        """
        try:
            route = self._remembered.get(env_id)
        except TypeError:  # not hashable, so no string: refused below
            route = None
        while True:
            route = route or self._fresh(env_id)
            with route.rotation.lock:
                if route.rotation.items:
                    route.num_decisions += 1
                    return route.rotation.next_item()
            if route.reason != LOCAL:
                raise no_policies_error()
            # The node lost its last policy since this route was found.
            route = None

    def _fresh(self, env_id: str | None) -> Route:
        # Should policies come or go meanwhile, what is found is noted where nobody looks any more.
        remembered = self._remembered
        if env_id is not None and not isinstance(env_id, str):
            raise RoutingTypeError(
                f"expected an env id as a string or None, got {env_id!r} of type "
                f"{type(env_id).__name__}; write ids with rlightning.env_id.format_env_id"
            )
        route = self._find(env_id)
        if len(remembered) >= NUM_REMEMBERED:
            self._remembered = {env_id: route}
        else:
            remembered[env_id] = route
        return route

    def add(self, policy: Any, node_id: str | None = None) -> None:
        """Let a policy join, last in turn; without a node it serves fallbacks only.

        Raises:
            RoutingTypeError: If the node id is neither a string nor None.
            RoutingValueError: If this very object is there already.
        """
        if node_id is not None and not isinstance(node_id, str):
            raise RoutingTypeError(
                f"expected node_id as a string or None, got {node_id!r} of type "
                f"{type(node_id).__name__}; use the runtime's node ids"
            )
        with self._membership_lock:
            if id(policy) in self._node_by_policy:
                raise present_policy_error(policy)
            self._node_by_policy[id(policy)] = node_id
            for rotation in self._rotations_for(node_id):
                with rotation.lock:
                    rotation.add(policy)
            self._remembered = {}

    def remove(self, policy: Any) -> None:
        """Let a policy leave; the others keep their nodes and their turn.

        Raises:
            RoutingValueError: If it is not there.
        """
        with self._membership_lock:
            if id(policy) not in self._node_by_policy:
                raise absent_policy_error(policy, len(self._node_by_policy))
            for rotation in self._rotations_for(self._node_by_policy.pop(id(policy))):
                with rotation.lock:
                    rotation.remove(policy)
            self._remembered = {}

    def _find(self, env_id: str | None) -> Route:
        if env_id is None:
            return self._everyone[BALANCED]
        worker_index = worker_index_of(env_id)
        node_id = None if worker_index is None else self._env_nodes.get(worker_index)
        if node_id is None:
            return self._everyone[UNKNOWN_ENV]
        local = self._local.get(node_id)
        if local is None or not local.rotation.items:
            return self._everyone[NODE_WITHOUT_POLICY]
        return local

    def _rotations_for(self, node_id: str | None) -> list[Rotation[Any]]:
        everyone = self._everyone[BALANCED].rotation
        if node_id is None:
            return [everyone]
        if node_id not in self._local:
            self._local[node_id] = Route(Rotation((), self._start_seed), LOCAL)
        return [everyone, self._local[node_id].rotation]
