"""The runtime whose workers are actors of a Ray cluster."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rlightning.errors import RLightningError, WorkerError
from rlightning.runtime.base import (
    DEFAULT_STOP_SECONDS,
    Runtime,
    Task,
    WorkerHandle,
    WorkerSpec,
)
from rlightning.runtime.first_done import wait_any
from rlightning.runtime.ray.call_limits import CallLimits
from rlightning.runtime.ray.completions import Completions
from rlightning.runtime.ray.placing import check_can_ever_run
from rlightning.runtime.ray.ray_worker import RayWorker
from rlightning.runtime.ray.room_check import require_room
from rlightning.runtime.ray.session import RaySession, RaySettings
from rlightning.runtime.ray.starting import Start

SECONDS_FOR_ROOM = 15.0
"""How long a start waits for room that is being given back: by a worker that died, or by the
reservations with which the run was planned, which takes a busy machine a while."""

SECONDS_FOR_THE_OVERDUE = 0.02
"""How long a wait that has an answer waits on for a task whose turn has come."""


class RayRuntime(Runtime):
    """Workers as actors, each in a process of its own.

    Arguments and answers go from process to process through Ray's object store. This process
    learns that a call has ended and whether it failed; it fetches an answer only for `result`.

    An actor runs the methods of its object one at a time, in the order in which they were sent.
    Threads beside that one only look at it. Calls of a gathered method wait at this process
    while two runs of such are under way at the actor, and go there together after that; other
    calls, such as those that bring weights, pass them.

    A worker that does not answer a call within the limit of its specification, counted from when
    the call is its turn and all arguments are there, is dead to everybody: frozen or hung, its
    process is ended, and what it may still answer is discarded.

    Args:
        settings: Which Ray to use.

    Raises:
        WorkerError: If the cluster cannot be joined, or none can be started.
    """

    def __init__(self, settings: RaySettings | None = None) -> None:
        self._settings = settings or RaySettings()
        self._session = RaySession(self._settings)
        self._session.enter()
        self._completions = Completions()
        self._call_limits = CallLimits()
        self._completion_numbers = itertools.count()
        self._lock = threading.Lock()
        self._workers: dict[str, RayWorker] = {}
        self._specs: dict[str, WorkerSpec] = {}
        self._incarnations: dict[str, int] = {}
        self._is_shut_down = False

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        """Start a worker in an actor; an id whose worker died may be used again.

        Raises:
            WorkerError: If no node can take it within the limit, or another version of
                RLightning, Python or torch is installed there; both are named.
        """
        (worker,) = self.spawn_all([spec])
        return worker

    def spawn_all(self, specs: Iterable[WorkerSpec]) -> Iterator[WorkerHandle]:
        """Start several workers at the same time; yield them in order.

        Nothing is started if one of them has no room.
        """
        specs = list(specs)
        self._check_room(specs)
        starts: list[Start] = []
        try:
            for spec in specs:
                starts.append(self._begin(spec))
            for start in starts:
                start.arrive(self._placed(), self._settings.start_timeout_seconds)
                self._note_place(start)
            for start in starts:
                start.request_object()
            while starts:
                starts[0].finish(self._settings.start_timeout_seconds)
                self._call_limits.keep(starts[0].worker)
                yield starts.pop(0).worker
        finally:
            for start in starts:
                start.worker.kill()

    def _check_room(self, specs: Sequence[WorkerSpec]) -> None:
        with self._lock:
            for spec in specs:
                self._check_may_spawn(spec)
        for spec in specs:
            check_can_ever_run(spec)
        require_room(specs, self._placed(), SECONDS_FOR_ROOM)

    def _begin(self, spec: WorkerSpec) -> Start:
        with self._lock:
            self._check_may_spawn(spec)
            incarnation = self._incarnations.get(spec.worker_id, 0) + 1
            start = Start(spec, incarnation, self._session.namespace)
            worker = RayWorker(
                spec, incarnation, start.actor, self._completions, self._completion_numbers
            )
            start.worker = worker
            self._incarnations[spec.worker_id] = incarnation
            self._workers[spec.worker_id] = worker
        return start

    def _check_may_spawn(self, spec: WorkerSpec) -> None:
        if self._is_shut_down:
            raise WorkerError(
                f"cannot spawn {spec.worker_id!r}: the runtime is shut down; create another one",
                worker_id=spec.worker_id,
            )
        former = self._workers.get(spec.worker_id)
        if former is not None and former.is_alive():
            raise WorkerError(
                f"worker {spec.worker_id!r} exists already; stop it first or use another id",
                worker_id=spec.worker_id,
            )

    def _note_place(self, start: Start) -> None:
        with self._lock:
            placed = replace(start.spec, node_id=start.worker.node_id)
            self._specs[start.spec.worker_id] = placed

    def _placed(self) -> list[WorkerSpec]:
        with self._lock:
            return [
                spec
                for worker_id, spec in self._specs.items()
                if self._workers[worker_id].is_alive()
            ]

    def wait_any(
        self, tasks: Sequence[Task[Any]], timeout_seconds: float | None = None
    ) -> tuple[list[Task[Any]], list[Task[Any]]]:
        """Wait until one is done; the done ones come in turn."""
        return wait_any(
            tasks,
            timeout_seconds,
            overdue_seconds=SECONDS_FOR_THE_OVERDUE,
            describe=self._describe,
        )

    def _describe(self, worker_id: str) -> str | None:
        worker = self._workers.get(worker_id)
        return None if worker is None else f"{worker.describe()}; it says: {worker.activity()}"

    def shutdown(self, timeout_seconds: float = DEFAULT_STOP_SECONDS) -> None:
        """Stop all workers under one common deadline, and leave Ray."""
        with self._lock:
            if self._is_shut_down:
                return
            self._is_shut_down = True
        try:
            problems = self._stop_workers(timeout_seconds)
        finally:
            self._call_limits.stop()
            self._completions.stop()
            self._session.leave()
        if problems:
            raise WorkerError("\n".join(problems))

    def _stop_workers(self, timeout_seconds: float) -> list[str]:
        workers = [worker for worker in self._workers.values() if worker.is_alive()]
        for worker in workers:
            worker.request_stop()
        deadline = time.monotonic() + timeout_seconds
        problems: list[str] = []
        for worker in workers:
            try:
                worker.stop(max(0.0, deadline - time.monotonic()))
            except RLightningError as error:
                problems.append(str(error))
        return problems

    def __repr__(self) -> str:
        where = self._settings.address or "this machine"
        return f"<{type(self).__name__} on {where}, {len(self._workers)} workers>"
