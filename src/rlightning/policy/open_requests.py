"""The requests that a pool has not answered yet, and which of them can be answered now."""

from __future__ import annotations

import threading
from collections import deque

from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.failover import FailoverTask
from rlightning.runtime.base import Task
from rlightning.types import ObservationBatch


class OpenRequests:
    """Remembers requests by environment worker, in order, until they are done. Thread-safe.

    A request may be sent before its observation is there. It has its seat at a replica then,
    and if the observation in turn waits for a request that failed, only that one can free the
    seat: so whoever retries has to know which seats are held by those that cannot be answered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_env: dict[str, deque[tuple[FailoverTask, Task[ObservationBatch]]]] = {}

    def add(self, env_id: str, request: FailoverTask, observation: Task[ObservationBatch]) -> None:
        """Remember a request; those of the same worker that are done are forgotten."""
        with self._lock:
            own = self._by_env.setdefault(env_id, deque())
            while own and own[0][0].is_done():
                own.popleft()
            own.append((request, observation))

    def num_ready(self, policy: EvalPolicy) -> int:
        """Return how many requests a replica has whose observations are there."""
        with self._lock:
            everything = [entry for own in self._by_env.values() for entry in own]
        return sum(
            request.policy is policy and not request.is_done() and observation.is_done()
            for request, observation in everything
        )
