"""A runtime that starts every worker where the plan of the run puts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Runtime, Task, WorkerHandle, WorkerSpec


class PlacedRuntime(Runtime):
    """Gives each worker its node and resources, and checks where it really is.

    A worker that the plan does not know is started as its specification says.

    Args:
        runtime: Starts the workers.
        manager: Owns the plan.
    """

    def __init__(self, runtime: Runtime, manager: GlobalResourceManager) -> None:
        self._runtime = runtime
        self._manager = manager

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        """Start a worker on its node.

        Raises:
            PlacementError: If it is on another node then; it does not live on.
        """
        (handle,) = self.spawn_all([spec])
        return handle

    def spawn_all(self, specs: Iterable[WorkerSpec]) -> Iterator[WorkerHandle]:
        """Start several workers, those with the largest part of a GPU first; yield them in order.

        Small parts that came first could leave no GPU whole.
        """
        wanted = [self._placed(spec) for spec in specs]
        waiting = [spec.worker_id for spec in wanted]
        arrived: dict[str, WorkerHandle] = {}
        try:
            largest_first = sorted(wanted, key=lambda spec: -spec.num_gpus)
            for handle in self._runtime.spawn_all(largest_first):
                arrived[handle.worker_id] = handle
                self._manager.record(handle.worker_id, handle.node_id)
                while waiting and waiting[0] in arrived:
                    yield arrived.pop(waiting.pop(0))
        finally:
            for handle in arrived.values():
                handle.kill()

    def _placed(self, spec: WorkerSpec) -> WorkerSpec:
        place = self._manager.place_of(spec.worker_id)
        if place is None:
            return spec
        return replace(
            spec,
            node_id=place.node_id,
            num_cpus=place.num_cpus,
            num_gpus=place.num_gpus,
            memory_bytes=place.memory_bytes,
        )

    def wait_any(
        self, tasks: Sequence[Task[Any]], timeout_seconds: float | None = None
    ) -> tuple[list[Task[Any]], list[Task[Any]]]:
        """Wait as the other runtime does."""
        return self._runtime.wait_any(tasks, timeout_seconds)

    def shutdown(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Shut the other runtime down."""
        self._runtime.shutdown(timeout_seconds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._runtime!r})"
