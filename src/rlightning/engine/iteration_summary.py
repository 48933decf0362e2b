"""Turns one iteration's traces into its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from rlightning.engine.progress import TrainingProgress
from rlightning.env.group import EnvGroup
from rlightning.metrics.iteration_report import IterationReport
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerHandle
from rlightning.types import UpdateReport


class IterationSummary:
    """Reads the counters of all parts after each iteration and hands out what was added.

    Args:
        environments: All environment workers.
        policies: All replicas and the learner.
        progress: How far the run has come.
        fault_counts: Returns what was lost and mended since the start.
    """

    def __init__(
        self,
        environments: EnvGroup,
        policies: PolicyGroup,
        progress: TrainingProgress,
        fault_counts: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        self._environments = environments
        self._policies = policies
        self._progress = progress
        self._fault_counts = fault_counts
        self._busy_before: dict[str, float] = {}
        self._waited_before: dict[str, float] = {}
        self._has_several_kinds = len(policies.pools) > 1
        self._names: dict[str, str] = {}

    def report(self, update: UpdateReport, seconds: float) -> IterationReport:
        """Return the report of the iteration that has just ended.

        Args:
            update: What the learner did.
            seconds: Length of the iteration.
        """
        return IterationReport(
            iteration=self._progress.iteration,
            env_steps=self._progress.env_steps,
            seconds=self._progress.seconds,
            steps_per_second=update.num_steps / max(seconds, 1e-9),
            episodes=update.episodes,
            algorithm=update.metrics,
            time_shares=self._time_shares(seconds),
            router_counts=self._policies.router_counts(),
            loads=self._policies.loads(),
            tasks=self._policies.take_task_counts(),
            queue_wait_seconds=self._queue_waits(),
            policy_version=self._policies.policy_version,
            environments=self._environment_names(),
            faults=self._fault_counts(),
            traffic=self._policies.take_traffic(),
        )

    def _environment_names(self) -> dict[str, str]:
        """Return what everybody hosts who ever took part; nothing where all host the same."""
        if self._has_several_kinds:
            self._names |= self._environments.environment_names()
        return dict(self._names)

    def _time_shares(self, seconds: float) -> dict[str, float]:
        """Return seconds by phase; workers that are busy at the same time share the time."""
        busy = {
            "environments": self._busy(self._environments.handles()),
            "inference": self._busy(self._policies.handles()),
            "update": self._busy([self._policies.learner]),
        }
        total = sum(busy.values())
        scale = min(1.0, seconds / total) if total > 0 else 1.0
        shares = {phase: scale * value for phase, value in busy.items()}
        return {**shares, "waiting": max(0.0, seconds - sum(shares.values()))}

    def _busy(self, handles: Iterable[WorkerHandle]) -> float:
        added = 0.0
        for handle in handles:
            name = f"{handle.worker_id}#{handle.incarnation}"
            added += handle.busy_seconds - self._busy_before.get(name, 0.0)
            self._busy_before[name] = handle.busy_seconds
        return added

    def _queue_waits(self) -> dict[str, float]:
        waits: dict[str, float] = {}
        both = chain(
            self._environments.wait_seconds().items(), self._policies.wait_seconds().items()
        )
        for worker_id, waited in both:
            waits[worker_id] = waited - self._waited_before.get(worker_id, 0.0)
            self._waited_before[worker_id] = waited
        return waits
