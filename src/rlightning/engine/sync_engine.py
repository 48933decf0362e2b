"""Synchronous training: collect, update, publish, in lock step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlightning.clock import Clock, monotonic_clock
from rlightning.engine.hooks import Hook
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.surviving_fragments import update_with_survivors
from rlightning.env.group import EnvGroup
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import Task
from rlightning.types import Fragment, UpdateReport


class SyncRLEngine:
    """Every iteration collects with one version of the policy, then updates it.

    The weights of the replicas change between iterations only, so every fragment was collected
    by one version. Workers that died are brought back between iterations too: the iteration
    goes on without them, and an iteration that is left with nobody begins anew.
    """

    def __init__(
        self,
        environments: EnvGroup,
        policies: PolicyGroup,
        progress: TrainingProgress,
        summary: IterationSummary,
        hook: Hook | None = None,
        restart_lost: Callable[[], object] = lambda: None,
    ) -> None:
        """Take the parts that the loop moves.

        Args:
            environments: All environment workers.
            policies: All replicas and the learner.
            progress: Counts what was done, and says when it is enough.
            summary: Makes the report of an iteration.
            hook: Told of the start, of each iteration and of the end.
            restart_lost: Brings workers back that died. Without it their death ends the run.
        """
        self._environments = environments
        self._policies = policies
        self._progress = progress
        self._summary = summary
        self._hook = hook or Hook()
        self._restart_lost = restart_lost

    def run(
        self,
        should_stop: Callable[[], bool] = lambda: False,
        clock: Clock = monotonic_clock,
    ) -> None:
        """Train until the run is complete, or until `should_stop` says so after an iteration."""
        progress = self._progress
        self._policies.publish()
        self._environments.reset()
        self._hook.run_started()
        started = clock()
        while not progress.is_complete:
            for _ in range(self._environments.rollout_length):
                observations = self._environments.observations()
                for env_id, action in self._policies.act_each(observations):
                    self._environments.step(env_id, action)
            update = self._update(self._environments.take_fragments())
            if update is None:
                self._restart_lost()
                continue
            self._policies.publish()
            self._restart_lost()
            seconds = clock() - started
            progress.advance(update.num_steps, seconds)
            self._hook.iteration_ended(self._summary.report(update, seconds))
            if should_stop():
                break
            started = clock()
        self._hook.run_ended()

    def _update(self, fragments: Sequence[Task[Fragment]]) -> UpdateReport | None:
        """Train on what has survived; return None if that is nothing."""
        share = self._progress.share
        return update_with_survivors(self._environments, self._policies, fragments, share)
