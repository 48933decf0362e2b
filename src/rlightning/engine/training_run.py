"""One run of training from its start, or its checkpoint, to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console

from rlightning.config.run_config import RunConfig
from rlightning.config.yaml_text import config_yaml
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble, create_supervisor
from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.checkpoint_hook import CheckpointHook
from rlightning.engine.evaluation import evaluate_weights, evaluation_seed
from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.evaluation_hook import EvaluationHook
from rlightning.engine.hooks import Hook, HookChain
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.kept_checkpoint import advice_to_go_on, notes_kept_checkpoint
from rlightning.engine.outputs import create_recorder
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.recording_hook import RecordingHook
from rlightning.engine.rewind import rewind
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_placement import num_cpus_asked, placement_request
from rlightning.engine.run_state import RunState
from rlightning.engine.runtime_choice import cluster_session
from rlightning.engine.scaling import Scaling
from rlightning.engine.stop_request import StopRequest
from rlightning.engine.stored_evaluation import StoredEvaluation
from rlightning.engine.sync_engine import SyncRLEngine

CreateHook: TypeAlias = Callable[[Scaling], Hook]
"""Makes a hook of the user's from what adds and removes workers while the run goes on."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        run_folder: Where everything lies that it wrote.
        env_steps: Environment steps since the start of the run.
        iterations: Iterations since the start of the run.
        was_interrupted: Whether somebody asked it to end early.
        evaluation: Of the final weights; None if it was interrupted or none was asked for.
    """

    run_folder: Path
    env_steps: int
    iterations: int
    was_interrupted: bool
    evaluation: EvaluationResult | None


class TrainingRun:
    """Builds all parts of one run, trains, evaluates the final weights, and takes all down.

    Args:
        config: Of the run.
        folder: Where it writes.
        console: Where progress is shown.
        checkpoint: State to go on from.
        create_hook: Makes a hook that may add and remove workers; it is told after the others.
    """

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        console: Console,
        checkpoint: Mapping[str, Any] | None = None,
        create_hook: CreateHook | None = None,
    ) -> None:
        self._config = config
        self._folder = folder
        self._console = console
        self._checkpoint = checkpoint
        self._create_hook = create_hook
        self._progress = TrainingProgress(config.engine.total_env_steps)
        env_steps = None if checkpoint is None else int(checkpoint["progress"]["env_steps"])
        self._recorder = create_recorder(config, folder, console, env_steps)

    def execute(self) -> RunResult:
        """Train to the end, or until somebody asks to stop.

        A cluster is joined, or started, once for the training and all its evaluations.
        """
        with self._cluster_session():
            with assemble(self._config, self._plan()) as assembly:
                was_interrupted, state = self._train(assembly)
            evaluation = None if was_interrupted else self._evaluate_finally(state)
        return RunResult(
            self._folder.path,
            self._progress.env_steps,
            self._progress.iteration,
            was_interrupted,
            evaluation,
        )

    def _cluster_session(self) -> AbstractContextManager[None]:
        config = self._config
        request = placement_request(
            config.cluster, config.env_configs, config.policy.num_eval_policies
        )
        return cluster_session(config.cluster, num_cpus_asked(request))

    def _plan(self) -> AssemblyPlan:
        return AssemblyPlan(
            env_configs=self._config.env_configs,
            rollout_length=self._config.engine.rollout_length,
            seed=self._config.seed,
            on_hang=self._close_displays,
        )

    def _train(self, assembly: Assembly) -> tuple[bool, dict[str, Any]]:
        environments, policies = assembly.environments, assembly.policies
        state = RunState(environments, policies, self._progress, self._recorder)
        if self._checkpoint is not None:
            self._go_on_from(self._checkpoint, state)
        supervisor = create_supervisor(self._config, assembly)
        counts = supervisor.fault_counts
        summary = IterationSummary(environments, policies, self._progress, counts)
        hooks = self._hooks(state, assembly.scaling)
        engine = SyncRLEngine(
            environments, policies, self._progress, summary, hooks, supervisor.restart_lost
        )
        with self._recorder, StopRequest(self._announce) as stop:
            with notes_kept_checkpoint(self._folder), supervisor:
                engine.run(lambda: stop.is_requested)
            was_interrupted = stop.is_requested and not self._progress.is_complete
        return was_interrupted, state.capture()

    def _go_on_from(self, checkpoint: Mapping[str, Any], state: RunState) -> None:
        """Restore the state; only when that has succeeded, change the run's folder."""
        state.restore(checkpoint)
        progress = self._progress
        rewind(self._folder, progress.iteration, keep_evaluation=progress.is_complete)
        self._folder.write_config(config_yaml(self._config))

    def _hooks(self, state: RunState, scaling: Scaling) -> HookChain:
        settings = self._config.engine
        recording = RecordingHook(self._recorder)
        store = CheckpointStore(self._folder.checkpoints_path, settings.keep_checkpoints)
        evaluate = partial(self._evaluate, state, settings.evaluation_episodes)
        checkpoints = CheckpointHook(
            store, settings.checkpoint_interval, state.capture, lambda: recording.score
        )
        hooks: list[Hook] = [
            EvaluationHook(settings.evaluation_interval, evaluate),
            recording,
            checkpoints,
        ]
        if self._create_hook is not None:
            hooks.append(self._create_hook(scaling))
        return HookChain(hooks)

    def _evaluate(self, state: RunState, num_episodes: int) -> EvaluationResult:
        return evaluate_weights(
            self._config, state.capture(), num_episodes, on_hang=self._close_displays
        )

    def _evaluate_finally(self, state: Mapping[str, Any]) -> EvaluationResult | None:
        num_episodes = self._config.engine.final_evaluation_episodes
        if not num_episodes:
            return None
        seed = evaluation_seed(self._config)
        with notes_kept_checkpoint(self._folder):
            result = evaluate_weights(self._config, state, num_episodes, seed=seed)
        StoredEvaluation.of(result, self._progress, seed=seed, deterministic=True).write(
            self._folder.evaluation_path
        )
        return result

    def _close_displays(self, report: str) -> None:
        self._recorder.close()
        advice = advice_to_go_on(self._folder)
        if advice is not None:
            self._announce(advice)

    def _announce(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)
