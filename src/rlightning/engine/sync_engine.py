"""Synchronous training: collect, update, publish, in lock step."""

from __future__ import annotations

from collections.abc import Callable

from rlightning.clock import Clock, monotonic_clock
from rlightning.engine.hooks import Hook
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.progress import TrainingProgress
from rlightning.env.group import EnvGroup
from rlightning.policy.group import PolicyGroup


class SyncRLEngine:
    """Every iteration collects with one version of the policy, then updates it.

    The weights of the replicas change between iterations only, so every fragment was collected
    by one version.
    """

    def __init__(
        self,
        environments: EnvGroup,
        policies: PolicyGroup,
        progress: TrainingProgress,
        summary: IterationSummary,
        hook: Hook | None = None,
    ) -> None:
        self._environments = environments
        self._policies = policies
        self._progress = progress
        self._summary = summary
        self._hook = hook or Hook()

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
        while not progress.is_complete:
            started = clock()
            for _ in range(self._environments.rollout_length):
                for env_id, observation in self._environments.observations():
                    action = self._policies.act(env_id, observation)
                    self._environments.step(env_id, action)
            fragments = self._environments.take_fragments()
            update = self._policies.update(fragments, progress.share)
            self._policies.publish()
            seconds = clock() - started
            progress.advance(update.num_steps, seconds)
            self._hook.iteration_ended(self._summary.report(update, seconds))
            if should_stop():
                break
        self._hook.run_ended()
