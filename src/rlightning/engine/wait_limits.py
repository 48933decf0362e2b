"""How long calls may take, and how much longer those wait who need their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rlightning.config.cluster_config import ClusterConfig
from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig

NUM_STARTS = 3
"""Of a worker that is waited for: the first two may fail."""


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """The deadlines of one run.

    On Ray a worker that does not answer within its limit is ended and replaced. The waits for
    room and for answers last longer than that takes in the worst case: an environment uses up
    its limit, then the request that waits for it meets one replica after the other that hangs,
    and the last one is started anew, at the third attempt. So the one who hangs is found, and
    not those who wait for him. In one process a call cannot be ended from outside, so there the
    wait itself ends.

    Attributes:
        env_seconds: Longest wait for room at an environment worker, or for a fragment.
        replica_seconds: Longest wait of a request for a replica with room.
    """

    env_seconds: float
    replica_seconds: float

    @classmethod
    def of(
        cls,
        cluster: ClusterConfig,
        env_configs: Sequence[EnvConfig],
        routing: RoutingConfig,
        num_eval_policies: int,
    ) -> Self:
        """Return the deadlines for these environments and so many replicas of each kind."""
        step_seconds = max(env.timeout_seconds for env in env_configs)
        act_seconds = routing.timeout_seconds
        if cluster.backend == "in_process":
            return cls(step_seconds, act_seconds)
        process_seconds = cluster.start_timeout_seconds
        start_seconds = process_seconds + max(process_seconds, act_seconds)
        restart_seconds = NUM_STARTS * start_seconds + NUM_STARTS * cluster.restart_backoff_seconds
        longest = step_seconds + num_eval_policies * act_seconds + restart_seconds
        return cls(longest, longest)
