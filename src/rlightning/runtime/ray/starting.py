"""The start of one worker: an actor, its arrival on a node, then its object."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ray

from rlightning.errors import TaskTimeoutError, WorkerError
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.ray.failure import Failure
from rlightning.runtime.ray.host import CONCURRENCY_GROUPS, Arrival, HostActor
from rlightning.runtime.ray.placing import actor_options, never_arrived
from rlightning.runtime.ray.ray_failures import translated
from rlightning.runtime.ray.versions import mismatch, versions_here
from rlightning.runtime.worker_object import CREATION

if TYPE_CHECKING:
    from rlightning.runtime.ray.ray_worker import RayWorker

_ACTOR_CLASS_OPTIONS: dict[str, Any] = {"concurrency_groups": CONCURRENCY_GROUPS}


class Start:
    """Starts one worker in steps, so that several can start at the same time.

    Attributes:
        spec: Of the worker.
        actor: Ray's handle.
        worker: Ours.
    """

    worker: RayWorker

    def __init__(self, spec: WorkerSpec, incarnation: int, namespace: str) -> None:
        """Ask Ray for the actor."""
        self.spec = spec
        self._where = f"#{incarnation} on node {spec.node_id or 'any'}"
        host: Any = ray.remote(**_ACTOR_CLASS_OPTIONS)(HostActor)
        self.actor: Any = host.options(
            name=f"{spec.worker_id}#{incarnation}@{time.monotonic_ns()}",
            namespace=namespace,
            **actor_options(spec),
        ).remote(spec.worker_id, incarnation)
        self._begun_at = time.monotonic()
        self._arrival = self.actor.arrive.remote()
        self._created: Any = None

    def arrive(self, placed: Sequence[WorkerSpec], timeout_seconds: float) -> None:
        """Wait for the process, and check what is installed there.

        Raises:
            WorkerError: If it did not start in time, on the wrong node, or with other versions.
        """
        left = max(0.0, self._begun_at + timeout_seconds - time.monotonic())
        try:
            arrival: Arrival = ray.get(self._arrival, timeout=left)
        except ray.exceptions.GetTimeoutError as error:
            raise never_arrived(self.spec, placed, timeout_seconds) from error
        except ray.exceptions.RayError as error:
            raise translated(error, self.spec.worker_id, self._where) from error
        self._check(arrival)
        self.worker.arrived(arrival)

    def _check(self, arrival: Arrival) -> None:
        differing = mismatch(versions_here(), arrival.versions)
        if differing:
            raise WorkerError(
                f"expected the same versions at worker {self.spec.worker_id!r} on node "
                f"{arrival.node_id} as at the driver, got {differing}; install the same there, "
                "or bring the package with cluster.runtime_env",
                worker_id=self.spec.worker_id,
            )
        if self.spec.node_id not in (None, arrival.node_id):
            raise WorkerError(
                f"expected worker {self.spec.worker_id!r} on node {self.spec.node_id}, got "
                f"{arrival.node_id}; look at the scheduling of the cluster",
                worker_id=self.spec.worker_id,
            )

    def request_object(self) -> None:
        """Have the object made."""
        self._created = self.actor.create.remote(self.spec.factory)

    def finish(self, least_seconds: float) -> None:
        """Wait until the object is made.

        Args:
            least_seconds: Given to it in any case: a new process first imports what it needs.

        Raises:
            BaseException: What the factory raised.
            TaskTimeoutError: If it takes longer than that and than the limit of a call.
        """
        limit = self.spec.call_timeout_seconds
        seconds = None if limit is None else max(limit, least_seconds)
        try:
            made = ray.get(self._created, timeout=seconds)
        except ray.exceptions.GetTimeoutError as error:
            raise TaskTimeoutError(
                f"expected {CREATION}() of worker {self.spec.worker_id!r} to end within "
                f"{seconds} s, but it is {self.worker.activity()}; raise its limit",
                worker_id=self.spec.worker_id,
            ) from error
        except ray.exceptions.RayError as error:
            raise translated(error, self.spec.worker_id, self._where) from error
        if isinstance(made, Failure):
            raise made.error
        self.worker.made(made)
