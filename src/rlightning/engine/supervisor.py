"""Brings workers back that died, within a budget."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Self

from rlightning.engine.restart_budget import RestartBudget
from rlightning.env.group import EnvGroup
from rlightning.errors import WorkerDiedError, WorkerError, WorkerLostError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.lost_worker import LostWorker

logger = logging.getLogger(__name__)

REMEDY = (
    "look into the cause, raise cluster.max_restarts if it passes, and go on from the last "
    "checkpoint with: rlightning resume"
)


@dataclass(frozen=True, slots=True)
class Staff:
    """Who is supervised, and how they are started.

    Attributes:
        runtime: Starts them.
        environments: All environment workers.
        policies: All replicas; the learner is not restarted.
        replica_specs: What each replica was started with, by id. One that is not here and dies,
            because it was added later, stays away.
        choose_node: Returns the node for a restart of a worker, None for any. Without it a
            worker is restarted on the node of its specification.
        on_restart: Called with each worker that was restarted, before it takes part.
        is_node_gone: Asked after a start of a worker that failed, whether the chosen node is dead.
        restarts_raising: Whether an environment worker whose environment raised is restarted
            too, as if it had died. If not, that ends the run.
    """

    runtime: Runtime
    environments: EnvGroup
    policies: PolicyGroup
    replica_specs: Mapping[str, WorkerSpec]
    choose_node: Callable[[str], str | None] | None = None
    on_restart: Callable[[WorkerHandle], object] = lambda handle: None
    is_node_gone: Callable[[str], bool] = lambda worker_id: False
    restarts_raising: bool = False


@dataclass(frozen=True, slots=True)
class _Vacancy:
    """A dead worker and how another incarnation takes its place."""

    lost: LostWorker
    next_spec: Callable[[], WorkerSpec]
    join: Callable[[WorkerHandle], object]


class Supervisor:
    """Restarts environment workers and replicas; the first restart of a worker comes at once.

    Whoever has to wait for its next restart is left out until then, unless there is nobody else.
    `restart_lost` is for the thread of the engine; a pool without replicas asks from any thread.
    A context manager that at its end brings nobody back any more: the run is over then, also for
    requests that still wait.

    Args:
        staff: Who is supervised.
        budget: How often, and when.
        sleep: Waits so many seconds.
    """

    def __init__(
        self,
        staff: Staff,
        budget: RestartBudget,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._staff = staff
        self._budget = budget
        self._sleep = sleep
        self._lock = threading.Lock()
        self._is_retired = False
        self._restarts: Counter[str] = Counter()
        self._failed: dict[str, LostWorker] = {}
        staff.environments.supervise(restarts_raising=staff.restarts_raising)
        for kind, pool in staff.policies.pools.items():
            pool.revive = partial(self._revive, kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_retired = True

    def restart_lost(self) -> None:
        """Restart who may be restarted now; wait only if no environment worker is left.

        Raises:
            WorkerLostError: If the budget of a dead worker is spent, or the learner has died.
        """
        with self._lock:
            replicas = self._missing_replicas(self._staff.policies.pools)
            self._restart_due([*replicas, *self._missing_environments()])
            while not self._staff.environments.has_present():
                self._restart_next(self._missing_environments())

    def restarts(self) -> dict[str, int]:
        """Return how often each worker was restarted."""
        return dict(self._restarts)

    def fault_counts(self) -> dict[str, int]:
        """Return what was lost and mended since the start: ``<what>/<worker id>`` to a count."""
        counts = {
            "restarts": self.restarts(),
            "dropped_steps": self._staff.environments.dropped_steps(),
            "retried_calls": self._staff.policies.retried_calls(),
        }
        return {f"{what}/{name}": n for what, own in counts.items() for name, n in own.items()}

    def _revive(self, kind: str) -> bool:
        """Restart a replica of a pool whose replicas are all dead; return whether any lives."""
        membership = self._staff.policies.pools[kind].membership
        with self._lock:
            while not membership.members() and not self._is_retired:
                vacancies = self._missing_replicas([kind])
                if not vacancies:
                    return False
                self._restart_next(vacancies)
        return bool(membership.routable())

    def _missing_replicas(self, kinds: Collection[str]) -> list[_Vacancy]:
        specs, policies = self._staff.replica_specs, self._staff.policies
        return [
            _Vacancy(lost, partial(specs.__getitem__, lost.worker_id), partial(policies.add, kind))
            for kind, lost in policies.lost()
            if kind in kinds and lost.worker_id in specs
        ]

    def _missing_environments(self) -> list[_Vacancy]:
        environments = self._staff.environments
        return [
            _Vacancy(lost, partial(environments.next_spec, lost.worker_id), environments.rejoin)
            for lost in environments.lost()
        ]

    def _restart_next(self, vacancies: Sequence[_Vacancy]) -> None:
        """Wait until the first of them may be restarted, then restart who may be."""
        seconds = min(self._budget.decide(v.lost.worker_id).wait_seconds for v in vacancies)
        if seconds > 0:
            self._sleep(seconds)
        self._restart_due(vacancies)

    def _restart_due(self, vacancies: Sequence[_Vacancy]) -> None:
        for vacancy in vacancies:
            worker_id = vacancy.lost.worker_id
            decision = self._budget.decide(worker_id)
            if decision.is_spent:
                raise self._spent(self._failed.get(worker_id, vacancy.lost))
            if decision.may_restart_now:
                self._budget.spend(worker_id)
                self._restart(vacancy)

    def _restart(self, vacancy: _Vacancy) -> None:
        worker_id = vacancy.lost.worker_id
        vacancy.lost.handle.kill()
        try:
            while not self._has_started(vacancy):
                logger.warning("%s is to be restarted on a node that has died", worker_id)
        except WorkerLostError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the budget decides
            self._failed[worker_id] = replace(vacancy.lost, cause=error)
            logger.warning("%s was lost and could not be restarted: %r", worker_id, error)
            return
        self._failed.pop(worker_id, None)
        self._restarts[worker_id] += 1
        logger.warning("%s was lost and is restarted: %s", worker_id, vacancy.lost.told_cause())

    def _has_started(self, vacancy: _Vacancy) -> bool:
        """Start a worker; return False if that failed because the node was about to die.

        Such a try costs nothing of the budget: the next one is made on another node.
        """
        try:
            self._join(self._started(vacancy.next_spec()), vacancy)
        except WorkerError as error:
            if not self._is_fault_of_node(vacancy.lost.worker_id, error):
                raise
            return False
        return True

    def _is_fault_of_node(self, worker_id: str, error: WorkerError) -> bool:
        if isinstance(error, WorkerLostError):
            return False
        may_be = isinstance(error, WorkerDiedError) or type(error) is WorkerError
        return may_be and self._staff.is_node_gone(worker_id)

    def _started(self, spec: WorkerSpec) -> WorkerHandle:
        if self._staff.choose_node is not None:
            spec = replace(spec, node_id=self._staff.choose_node(spec.worker_id))
        return self._staff.runtime.spawn(spec)

    def _join(self, handle: WorkerHandle, vacancy: _Vacancy) -> None:
        try:
            self._staff.on_restart(handle)
            vacancy.join(handle)
        except BaseException:
            handle.kill()
            raise

    def _spent(self, lost: LostWorker) -> WorkerLostError:
        num_restarts = self._budget.num_spent(lost.worker_id)
        return lost.error(
            f"its {num_restarts} restarts are spent (cluster.max_restarts="
            f"{self._budget.max_restarts})",
            remedy=REMEDY,
        )
