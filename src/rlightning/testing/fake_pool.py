"""The real pool, router and submitter over replicas without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlightning.clock import Clock, monotonic_clock
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.router_choice import router_factory
from rlightning.env_id import worker_index_of
from rlightning.policy.pool import PolicyPool
from rlightning.runtime.base import Runtime, Task, WorkerHandle, WorkerSpec
from rlightning.testing.fake_replica import FakeReplica, shown_observation
from rlightning.types import ActionBatch


class FakePool:
    """A `PolicyPool` of fake replicas, and what a test wants to see of it.

    Args:
        runtime: Hosts the replicas; the caller shuts it down.
        replicas: By id, such as ``eval-0``, in order.
        routing: Which router, how many pending tasks, which deadline.
        nodes: Ids of the workers on each node, environment workers and replicas.
        limits: When a failing replica rests.
        clock: Seconds for the rests.

    Attributes:
        pool: The pool.
        submitter: Sends its requests.
        handles: Of the replicas, by id.
    """

    def __init__(
        self,
        runtime: Runtime,
        replicas: Mapping[str, FakeReplica],
        routing: RoutingConfig | None = None,
        nodes: Mapping[str, Sequence[str]] | None = None,
        limits: BreakerLimits | None = None,
        clock: Clock = monotonic_clock,
    ) -> None:
        routing = routing or RoutingConfig()
        self._runtime = runtime
        self._nodes = nodes or {"local": list(replicas)}
        self.submitter = TaskSubmitter(
            routing.max_pending_tasks, timeout_seconds=routing.timeout_seconds
        )
        self.handles: dict[str, WorkerHandle] = {}
        for name, replica in replicas.items():
            self.spawn(name, replica)
        create_router = router_factory(routing, self)
        handles = list(self.handles.values())
        self.pool = PolicyPool(handles, create_router, self.submitter, limits, clock)

    def get_component_distribution(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return who lives where, as routers read it."""
        return {node: _components(workers) for node, workers in self._nodes.items()}

    def spawn(self, replica_id: str, replica: FakeReplica) -> WorkerHandle:
        """Start a replica on its node; it does not take part yet."""
        places = [node for node, workers in self._nodes.items() if replica_id in workers]
        spec = WorkerSpec(replica_id, lambda: replica, places[0] if places else None)
        self.handles[replica_id] = self._runtime.spawn(spec)
        return self.handles[replica_id]

    def ask(self, env_id: str = "env-0", value: float = 0.0) -> Task[ActionBatch]:
        """Ask the pool for the actions of one environment worker.

        Args:
            env_id: Who asks.
            value: What it shows.
        """
        return self.pool.act(env_id, shown_observation(env_id, value=value))


def _components(workers: Sequence[str]) -> dict[str, dict[str, Any]]:
    ids: dict[str, list[int]] = {}
    for worker_id in workers:
        index = worker_index_of(worker_id)
        if index is not None:
            ids.setdefault(worker_id.partition("-")[0], []).append(index)
    return {name: {"count": len(own), "ids": own} for name, own in ids.items()}
