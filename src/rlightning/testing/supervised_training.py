"""A real training whose workers can be killed at a chosen moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rlightning.config.loading import load_config
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble, create_supervisor
from rlightning.engine.hooks import Hook
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.sync_engine import SyncRLEngine
from rlightning.metrics.iteration_report import IterationReport
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.types import Fragment, UpdateReport

JOIN_SECONDS = 30.0


class SupervisedTraining(Hook):
    """The parts of a training run without its folder; a context manager.

    Args:
        preset: As for `rlightning train`.
        overrides: Likewise.

    Attributes:
        assembly: The parts.
        progress: How far the training has come.
        supervisor: Brings workers back.
        reports: Of all iterations.
        fragments: All that were trained on, in order.
    """

    def __init__(self, preset: str, overrides: Sequence[str]) -> None:
        config = load_config(preset, overrides)
        plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed)
        self.assembly: Assembly = assemble(config, plan)
        self.progress = TrainingProgress(config.engine.total_env_steps)
        self.supervisor = create_supervisor(config, self.assembly)
        self.reports: list[IterationReport] = []
        self.fragments: list[Fragment] = []
        self._killers: list[threading.Thread] = []
        self._train = self.assembly.policies.update
        self.assembly.policies.update = self._update  # type: ignore[method-assign]

    def _update(self, fragments: Sequence[Task[Fragment]], progress: float) -> UpdateReport:
        update = self._train(fragments, progress)
        self.fragments.extend(task.result() for task in fragments)
        return update

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Keep the report."""
        self.reports.append(report)
        return report

    def run(self) -> None:
        """Train to the end."""
        environments, policies = self.assembly.environments, self.assembly.policies
        counts = self.supervisor.fault_counts
        summary = IterationSummary(environments, policies, self.progress, counts)
        engine = SyncRLEngine(
            environments, policies, self.progress, summary, self, self.supervisor.restart_lost
        )
        engine.run()

    def handle(self, worker_id: str) -> WorkerHandle:
        """Return the present incarnation of a worker."""
        policies = self.assembly.policies
        workers = [*self.assembly.environments.handles(), *policies.handles(), policies.learner]
        return next(worker for worker in workers if worker.worker_id == worker_id)

    def after_calls(self, num_calls: int, action: Callable[[], object]) -> None:
        """Do something on the thread that ends the call of this number, counted from 1."""
        num_left = num_calls
        lock = threading.Lock()

        def count(worker_id: str) -> None:
            nonlocal num_left
            with lock:
                num_left -= 1
                is_time = num_left == 0
            if is_time:
                action()

        self.assembly.ledger.on_release(count)

    def kill_after_calls(
        self, num_calls: int, victims: Sequence[str], *, on_own_thread: bool = False
    ) -> None:
        """Kill workers, one right after the other, when so many calls have ended.

        Args:
            num_calls: Of all workers together.
            victims: Whom.
            on_own_thread: Kill from a thread of its own, so that everything else goes on.
        """

        def kill() -> None:
            for victim in victims:
                self.handle(victim).kill()

        if not on_own_thread:
            self.after_calls(num_calls, kill)
            return
        is_time = threading.Event()

        def wait_and_kill() -> None:
            if is_time.wait(JOIN_SECONDS):
                kill()

        killer = threading.Thread(target=wait_and_kill)
        killer.start()
        self._killers.append(killer)
        self.after_calls(num_calls, is_time.set)

    def __enter__(self) -> Self:
        self.assembly.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for killer in self._killers:
            killer.join(JOIN_SECONDS)
        self.assembly.__exit__(kind, error, traceback)
