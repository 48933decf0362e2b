"""Which policy answers which task: the published routers.

Asynchronous routers place many tasks on many policies by their loads; synchronous routers hand out
one policy at a time. A router only decides: `SyncSimpleRouter` alone waits, and only for a policy
that says that it is busy. Constructors refuse what contradicts itself or is not allowed with a
`RoutingValueError`, and wrong types with a `RoutingTypeError`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.decision_counts import NO_DECISIONS
from rlightning.dispatch.even_placement import EvenPlacement
from rlightning.dispatch.home_placement import HomePlacement
from rlightning.dispatch.idle_deque import IdleDeque
from rlightning.dispatch.loads import Loads
from rlightning.dispatch.node_routes import NodeRoutes
from rlightning.dispatch.policy_nodes import PolicyNodes
from rlightning.dispatch.policy_pool import NoPool, PolicyPool
from rlightning.dispatch.policy_pool_errors import checked_policies, short_repr
from rlightning.dispatch.router_factory import ROUTER_TYPES, RouterFactory, build_router
from rlightning.dispatch.tie_break import LOWEST, TieBreak
from rlightning.placement.topology import Topology


class AsyncRouter(ABC):
    """Abstract base class for request routing strategies."""

    _decisions: Mapping[str, int] = NO_DECISIONS
    _settings: str = "policies=?"

    @abstractmethod
    def assign(
        self, current_loads: Loads, num_tasks: int, env_ids: Sequence[str] | None = None
    ) -> list[int]:
        """Assign num_tasks to policy indices.

        Args:
            current_loads: Load of each policy, whole numbers >= 0. Shape: (num_policies,).
            num_tasks: Number of tasks to assign.
            env_ids: Optional env id of each task, for affinity. Shape: (num_tasks,).

        Returns:
            The policy index for each task, in the order of the tasks. Shape: (num_tasks,).

        Raises:
            RoutingValueError: If a value is not allowed, or there is no policy for the tasks.
            RoutingTypeError: If an argument has the wrong type.
        """

    @property
    def decision_counts(self) -> dict[str, int]:
        """Tasks by reason; all zero where a router of one's own does not count."""
        return dict(self._decisions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings}, decisions={self.decision_counts})"


class SimpleRouter(AsyncRouter):
    """Load-balancing router: each task goes to the least loaded policy so far.

    Equal loads: the lowest index first, so single tasks on an idle pool all go to policy 0, until
    their load is seen; with `tie_break="rotating"` the first place moves on with every task. Knows
    only the loads it is given: routers that share policies must share their loads. Thread-safe.
    """

    def __init__(self, *, tie_break: str = LOWEST, start_offset_seed: int | None = None) -> None:
        """Choose the rule for equal loads; the seed says where a rotation begins."""
        self._placement = EvenPlacement(TieBreak(tie_break, start_offset_seed))
        self._decisions, self._settings = self._placement.decisions, repr(self._placement.tie_break)

    def assign(
        self, current_loads: Loads, num_tasks: int, env_ids: Sequence[str] | None = None
    ) -> list[int]:
        """Assign each task to the least loaded policy so far; `current_loads` stays as it is.

        The length of `env_ids` is checked, their content ignored. O(n log n + k) for n policies
        and k tasks. See `AsyncRouter.assign`.
        """
        return self._placement.place(current_loads, num_tasks, env_ids)


class NodeAffinityRouter(AsyncRouter):
    """Route tasks to policies on the same node as env workers.

    A task goes to the least loaded policy on its env's node; one whose env is unknown, or whose
    node has no policy, to the least loaded of all, after the others were placed. The home of an
    env is a pure function of its id and the distribution, so all routers agree on it. Strict
    (`spill_margin=None`) keeps tasks at home whatever the load; with a margin m they leave when
    home is busier than elsewhere by more than m. Thread-safe: one call at a time charges.
    """

    def __init__(
        self,
        component_distribution: Mapping[str, Mapping[str, Mapping[str, Any]]],
        policy_node_ids: Sequence[str | None] | None = None,
        *,
        spill_margin: float | None = None,
        tie_break: str = LOWEST,
        start_offset_seed: int | None = None,
    ) -> None:
        """Copy the distribution and, if given, the node of every policy, which wins over it."""
        topology = Topology.from_component_distribution(component_distribution)
        nodes = PolicyNodes(topology, policy_node_ids)
        rule = TieBreak(tie_break, start_offset_seed)
        self._placement = HomePlacement(topology, nodes, rule, spill_margin)
        self._decisions = self._placement.decisions
        self._settings = f"policies={short_repr(nodes.seats_by_node)}, {spill_margin=}, {rule}"

    def assign(
        self, current_loads: Loads, num_tasks: int, env_ids: Sequence[str] | None = None
    ) -> list[int]:
        """Assign each task to its env's node, and charge `current_loads` one per task.

        A tuple or a read-only array is not charged. Without `env_ids` it answers as `SimpleRouter`
        does, and charges all the same. O(n log n + k) for n policies and k tasks, with a spill
        margin O(n + k log n). See `AsyncRouter.assign`.

        Raises:
            RoutingValueError: Also if the number of loads does not fit the policies' nodes, or a
                charged load would not fit its type. Then nothing is charged or counted.
        """
        return self._placement.place_and_charge(current_loads, num_tasks, env_ids)


class SyncRouter(ABC):
    """Abstract base class for sync rollout routing strategies."""

    _pool: PolicyPool = NoPool()

    @abstractmethod
    def select_policy(self, env_id: str | None = None) -> Any:
        """Select a policy for a single env_id in sync mode."""

    def add_policy(self, policy: Any, node_id: str | None = None) -> None:
        """Let a policy join, last in turn; other threads may select meanwhile.

        Raises:
            RoutingValueError: If this very object is there already.
            RoutingError: If a router of one's own does not support it.
        """
        self._pool.add(policy, node_id)

    def remove_policy(self, policy: Any) -> None:
        """Let a policy leave: no later call selects it; the others keep node and turn.

        Raises:
            RoutingValueError: If it is not there.
            RoutingError: If a router of one's own does not support it.
        """
        self._pool.remove(policy)

    def notify_available(self) -> None:
        """Hear that a policy may have become available; wakes those who wait for one."""
        self._pool.notify()

    @property
    def decision_counts(self) -> dict[str, int]:
        """Choices by reason; all zero where a router of one's own does not count."""
        return self._pool.decision_counts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._pool.describe()}, decisions={self.decision_counts})"


class SyncSimpleRouter(SyncRouter):
    """Sync router using a single idle deque.

    Hands out the head; when the deque runs dry it is refilled in the original order. A policy that
    offers a local `is_available()` is skipped while that is False; while all are busy the caller
    waits. Over r full rounds each policy that is always idle is chosen exactly r times, also under
    threads. Thread-safe.
    """

    def __init__(
        self,
        eval_policies: Sequence[Any],
        *,
        timeout_seconds: float = 60.0,
        tie_break: str = LOWEST,
        start_offset_seed: int | None = None,
        clock: Clock = monotonic_clock,
    ) -> None:
        """Begin with the first policy, or where the seed says with `tie_break="rotating"`."""
        policies = checked_policies(eval_policies)
        rule = TieBreak(tie_break, start_offset_seed)
        self._pool = IdleDeque(policies, timeout_seconds, clock, rule.start_seed)

    def select_policy(self, env_id: str | None = None) -> Any:
        """Select the next idle policy; `env_id` is ignored. O(1) amortised.

        Raises:
            RoutingValueError: If there are no policies.
            RoutingTimeoutError: If all stay busy past the deadline; names them and since when.
            RoutingError: If `is_available()` of a policy fails.
        """
        return self._pool.take(env_id)


class SyncNodeAffinityRouter(SyncRouter):
    """Sync router that prefers policies on the same node as env workers.

    Round robin among the policies of the env's node, blind to their load: one cursor and one lock
    per node, so nodes never wait for each other. An unknown env, None, or a node without policies:
    round robin over all, with a cursor of its own. Thread-safe.
    """

    def __init__(
        self,
        eval_policies: Sequence[Any],
        component_distribution: Mapping[str, Mapping[str, Mapping[str, Any]]],
        *,
        tie_break: str = LOWEST,
        start_offset_seed: int | None = None,
    ) -> None:
        """Copy the distribution; eval id i is position i in `eval_policies`."""
        policies = checked_policies(eval_policies)
        topology = Topology.from_component_distribution(component_distribution)
        topology.check_eval_ids(len(policies))
        rule = TieBreak(tie_break, start_offset_seed)
        self._pool = self._routes = NodeRoutes(policies, topology, rule.start_seed)
        self._num_env_workers = len(topology.env_nodes)

    def select_policy(self, env_id: str | None = None) -> Any:
        """Select the policy whose turn it is on the env's node. O(1).

        Raises:
            RoutingValueError: If there are no policies.
            RoutingTypeError: If the env id is neither a string nor None.
        """
        return self._pool.take(env_id)

    @property
    def num_nodes(self) -> int:
        """Return the number of nodes with eval policies."""
        return len(self._routes.policies_by_node)

    @property
    def env_worker_num(self) -> int:
        """Number of env workers in the distribution."""
        return self._num_env_workers


def create_router(
    rollout_mode: str,
    router_type: str,
    eval_policies: Sequence[Any],
    global_resource_manager: Any = None,
    **options: Any,
) -> SyncRouter | AsyncRouter:
    """Create the router of a mode ("sync", "async") and type ("simple", "node_affinity", …).

    Args:
        rollout_mode: Rollout mode.
        router_type: Type of router.
        eval_policies: List of eval policies; asynchronous routers hold none.
        global_resource_manager: Any object with `get_component_distribution()`; required for
            "node_affinity".
        options: Keyword parameters of the router's class.

    Raises:
        RoutingValueError: If the mode, the type or an option is unknown, or a distribution is
            needed and there is none.
    """
    factory = ROUTER_TYPES.find(rollout_mode, router_type)
    router: SyncRouter | AsyncRouter = build_router(
        factory, eval_policies, global_resource_manager, options
    )
    return router


def register_router(rollout_mode: str, router_type: str, factory: RouterFactory | str) -> None:
    """Add a router type, as a callable or as "package.module:Name", imported when first used.

    Its parameters named `eval_policies`, `component_distribution`, `global_resource_manager` are
    served by name; its others are options.

    Raises:
        RoutingValueError: If the mode is unknown, the type is taken or the path malformed.
        RoutingTypeError: If the factory is neither callable nor a string.
    """
    ROUTER_TYPES.register(rollout_mode, router_type, factory)


register_router("sync", "simple", SyncSimpleRouter)
register_router("sync", "node_affinity", SyncNodeAffinityRouter)
register_router("async", "simple", SimpleRouter)
register_router("async", "node_affinity", NodeAffinityRouter)
