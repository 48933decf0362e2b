"""More or fewer workers while a run goes on."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass

from rlightning.engine.environment_scaling import EnvironmentScaling
from rlightning.placement.node import Node
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.policy.answered import AnsweredRequests
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import Runtime, WorkerSpec


@dataclass(frozen=True, slots=True)
class ReplicaScaling:
    """Adds replicas to pools and takes them out; may be used from any thread.

    Attributes:
        runtime: Starts replicas where the manager says.
        manager: Plans a node for each.
        policies: Whom replicas join and leave.
        create_spec: Makes the specification of a replica from its id and its kind's name.
        replica_specs: What each replica was started with; kept true here, for restarts.
        living_nodes: Returns the nodes that are alive.
    """

    runtime: Runtime
    manager: GlobalResourceManager
    policies: PolicyGroup
    create_spec: Callable[[str, str], WorkerSpec]
    replica_specs: MutableMapping[str, WorkerSpec]
    living_nodes: Callable[[], Sequence[Node]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of environments, each with replicas of its own."""
        return tuple(self.policies.pools)

    def answered(self) -> dict[str, AnsweredRequests]:
        """Ask the living replicas what they have answered, of whom, and where they live."""
        tasks = {each.worker_id: each.call("answered") for each in self.policies.handles()}
        return {replica_id: task.result() for replica_id, task in tasks.items()}

    def add(self, kind: str) -> str:
        """Start one more replica of a kind, where the plan has room; return its id.

        It takes part only once it has the present weights.

        Raises:
            RoutingValueError: If there is no such kind.
            PlacementError: If no node has room for it.
        """
        pool_number = self.policies.pool_number(kind)
        replica_id = self.manager.add_replica(pool_number, self.living_nodes())
        try:
            spec = self.create_spec(replica_id, kind)
            handle = self.runtime.spawn(spec)
            try:
                self.policies.add(kind, handle)
            except BaseException:
                handle.kill()
                raise
        except BaseException:
            self.manager.forget(replica_id)
            raise
        self.replica_specs[replica_id] = spec
        return replica_id

    def remove(self, replica_id: str, *, drain_seconds: float = 60.0) -> None:
        """Send a replica nothing more, let it finish what it has, then stop it.

        Args:
            replica_id: Whom.
            drain_seconds: Longest wait for its answers.

        Raises:
            RoutingValueError: If no replica has this id.
        """
        self.policies.remove(replica_id, drain_seconds=drain_seconds)
        self.replica_specs.pop(replica_id, None)
        self.manager.forget(replica_id)


@dataclass(frozen=True, slots=True)
class Scaling:
    """Adds and removes workers of a run that goes on.

    Attributes:
        replicas: Adds and removes eval policies.
        environments: Adds and removes environment workers.
    """

    replicas: ReplicaScaling
    environments: EnvironmentScaling
