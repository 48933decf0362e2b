"""More or fewer environment workers while a run goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlightning.env.group import EnvGroup
from rlightning.env.member import EnvMember
from rlightning.placement.node import Node
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.policy.group import PolicyGroup
from rlightning.policy.traffic import RequestBytes
from rlightning.runtime.base import Runtime


@dataclass(frozen=True, slots=True)
class EnvironmentParts:
    """What environment workers are scaled with.

    Attributes:
        runtime: Starts them where the manager says.
        manager: Plans a node for each.
        environments: Whom they join and leave.
        policies: Who answers them.
        living_nodes: Returns the nodes that are alive.
    """

    runtime: Runtime
    manager: GlobalResourceManager
    environments: EnvGroup
    policies: PolicyGroup
    living_nodes: Callable[[], Sequence[Node]]


class EnvironmentScaling:
    """Adds environment workers and takes them out; may be used from any thread.

    Args:
        parts: What it works with.
    """

    def __init__(self, parts: EnvironmentParts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        parts.environments.on_left(self._left)

    @property
    def env_ids(self) -> tuple[str, ...]:
        """The workers that take part now; who was added joins with the next iteration."""
        return self._parts.environments.env_ids

    def node_ids(self) -> dict[str, str | None]:
        """Ask the workers where they live; between two iterations, or it waits for steps."""
        handles = self._parts.environments.handles()
        tasks = {each.worker_id: each.call("node_id") for each in handles}
        return {env_id: task.result() for env_id, task in tasks.items()}

    def add(self, block_index: int = 0) -> str:
        """Start one more environment worker, where the plan has room; return its id.

        It joins, with a reset, when the next iteration begins. Its index was never used before,
        also not before the run was resumed, so its random numbers are its own.

        Args:
            block_index: Which environment of the configuration it hosts, from 0.

        Raises:
            ConfigError: If the configuration has no such environment.
            PlacementError: If no node has room for it.
        """
        parts = self._parts
        with self._lock:
            member = parts.environments.roster.new_member(block_index)
            kind = parts.environments.roster.kind_of_block(block_index)
            pool_number = parts.policies.pool_number(kind)
            parts.manager.add_environment(member.worker_index, pool_number, parts.living_nodes())
            try:
                self._introduce(member, kind)
                self._start(member)
            except BaseException:
                self._left(member.env_id)
                raise
        return member.env_id

    def _introduce(self, member: EnvMember, kind: str) -> None:
        """Let the policies know it before it asks them."""
        policies = self._parts.policies
        traffic = policies.pools[kind].traffic
        if traffic is not None:
            spaces = self._parts.environments.kinds[kind]
            traffic.join(member.env_id, RequestBytes.of(spaces, member.config.num_envs))
        policies.served.add(member.env_id, kind)
        policies.rebuild_routers()

    def _start(self, member: EnvMember) -> None:
        handle = self._parts.runtime.spawn(member.first_spec)
        try:
            self._parts.environments.add(member, handle)
        except BaseException:
            handle.kill()
            raise

    def remove(self, env_id: str, *, drain_seconds: float = 60.0) -> None:
        """Let a worker finish the fragment under collection, then stop it; return at once.

        Args:
            env_id: Whom.
            drain_seconds: Longest wait for that fragment; what was collected of it is dropped
                then, and counted.

        Raises:
            EnvironmentFailedError: If there is no such worker, or it is the last one.
        """
        self._parts.environments.remove(env_id, drain_seconds=drain_seconds)

    def _left(self, env_id: str) -> None:
        self._parts.policies.served.remove(env_id)
        self._parts.manager.forget(env_id)
        self._parts.policies.rebuild_routers()
