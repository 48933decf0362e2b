"""A worker that answers after a while, to see how calls are spread and gathered."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.gathered import gathered


class SlowReplica:
    """Answers each request with itself.

    Args:
        service_seconds: How long one run takes.
    """

    def __init__(self, service_seconds: float = 0.0) -> None:
        self._service_seconds = service_seconds
        self._batch_sizes: list[int] = []

    def act(self, request: Any = None) -> Any:
        """Answer after the service time."""
        time.sleep(self._service_seconds)
        return request

    def act_for(self, seconds: float) -> float:
        """Answer after that many seconds, with that many."""
        time.sleep(seconds)
        return seconds

    def act_or_raise(self, number: int) -> int:
        """Answer an even number; an odd one is a bad observation."""
        if number % 2:
            raise ValueError(f"bad observation {number}")
        return number

    @gathered(max_batch_calls=16)
    def act_together(self, requests: list[Any]) -> list[Any]:
        """Answer all requests that wait after one service time."""
        self._batch_sizes.append(len(requests))
        time.sleep(self._service_seconds)
        return requests

    def batch_sizes(self) -> list[int]:
        """Return the sizes of the runs of `act_together`."""
        return self._batch_sizes


def spawn_slow_replicas(runtime: Runtime, *service_seconds: float) -> list[WorkerHandle]:
    """Start a replica for each service time."""
    return [
        runtime.spawn(WorkerSpec(f"eval-{number}", partial(SlowReplica, seconds)))
        for number, seconds in enumerate(service_seconds)
    ]
