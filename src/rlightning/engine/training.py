"""What a program calls: train, resume, evaluate, load a policy."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.config.yaml_text import config_yaml
from rlightning.engine.deployed_policy import DeployedPolicy
from rlightning.engine.evaluation import evaluate_weights, evaluation_seed
from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.name_check import check_names
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_lock import RunLock
from rlightning.engine.run_reference import DEFAULT_ROOT, RunReference, find_run
from rlightning.engine.training_run import CreateHook, RunResult, TrainingRun
from rlightning.engine.video import record_videos

__all__ = ["EvaluationResult", "RunResult", "evaluate", "load_policy", "resume", "train"]

Overrides = Sequence[str] | Mapping[str, Any]


def train(
    config: RunConfig | str | Path | Mapping[str, Any],
    overrides: Overrides = (),
    *,
    console: Console | None = None,
    create_hook: CreateHook | None = None,
) -> RunResult:
    """Train a policy in a new run folder, then evaluate its final weights.

    Args:
        config: A preset's name, the path of a YAML file, a mapping, or a whole configuration.
        overrides: ``["engine.total_env_steps=50_000"]``, or a mapping with such keys.
        console: Where progress is shown; `logging.live` says how.
        create_hook: Given what adds and removes workers while the run goes on; returns a hook
            that is told of every iteration.

    Raises:
        ConfigError: If the configuration is wrong; the message lists every fault.
        RunFolderError: If the run folder cannot be written.
        RLightningError: If the training fails; the last checkpoint is kept.
    """
    resolved = load_config(config, overrides)
    check_names(resolved)
    now = datetime.now().astimezone()
    folder = RunFolder.create(resolved.logging.folder, resolved.name, now)
    with RunLock(folder.path):
        try:
            folder.write_config(config_yaml(resolved))
            screen = _screen(resolved, console)
            return TrainingRun(resolved, folder, screen, create_hook=create_hook).execute()
        except BaseException:
            _remove_if_nothing_happened(folder)
            raise


def resume(
    run: str | Path,
    overrides: Overrides = (),
    *,
    root: str | Path = DEFAULT_ROOT,
    console: Console | None = None,
    create_hook: CreateHook | None = None,
) -> RunResult:
    """Go on with a run from a checkpoint, in the same folder.

    Metrics and checkpoints after that checkpoint are dropped; environments start new episodes.
    If the state cannot be restored, the folder stays as it is.

    Args:
        run: A path, a run's name, ``latest``, or the path of one of its checkpoints.
        overrides: Settings that change, for example more steps.
        root: Folder of all runs.
        console: Where progress is shown.
        create_hook: As for `train`.

    Raises:
        RunFolderError: If there is no such run, or somebody is training it.
        CheckpointError: If it has no checkpoint, a damaged one, or one of another environment.
    """
    reference = find_run(run, root)
    with RunLock(reference.folder.path):
        config = load_config(_stored_config(reference), overrides)
        check_names(config)
        checkpoint = reference.load_checkpoint()
        screen = _screen(config, console)
        return TrainingRun(config, reference.folder, screen, checkpoint, create_hook).execute()


def evaluate(
    run: str | Path,
    *,
    episodes: int = 100,
    deterministic: bool = True,
    seed: int | None = None,
    video_folder: str | Path | None = None,
    root: str | Path = DEFAULT_ROOT,
) -> EvaluationResult:
    """Play whole episodes with the weights of a checkpoint.

    Args:
        run: A path, a run's name, ``latest``, or the path of one of its checkpoints.
        episodes: How many, shared out equally over the sub-environments.
        deterministic: Take the most likely action instead of a random one.
        seed: Of the episodes; None takes one that the run's training never uses.
        video_folder: Where to put films of a few episodes; None films none.
        root: Folder of all runs.

    Raises:
        RunFolderError: If there is no such run.
        CheckpointError: If it has no checkpoint, a damaged one, or one of another environment.
        MissingExtraError: If a film is asked for and the extra `video` is missing.
    """
    reference = find_run(run, root)
    config = load_config(_stored_config(reference))
    state = reference.load_checkpoint()
    if video_folder is not None:
        first_seed = evaluation_seed(config) if seed is None else seed
        for env in config.env_configs:
            policy = DeployedPolicy(config, env, state, first_seed)
            record_videos(
                policy, env, Path(video_folder), seed=first_seed, deterministic=deterministic
            )
    return evaluate_weights(config, state, episodes, deterministic=deterministic, seed=seed)


def load_policy(
    run: str | Path, *, root: str | Path = DEFAULT_ROOT, env_index: int = 0
) -> DeployedPolicy:
    """Return the policy of a run for deployment.

    Args:
        run: A path, a run's name, ``latest``, or the path of one of its checkpoints.
        root: Folder of all runs.
        env_index: Which environment of the run, where it has several.

    Raises:
        RunFolderError: If there is no such run.
        CheckpointError: If it has no checkpoint, a damaged one, or one of another environment.
    """
    reference = find_run(run, root)
    config = load_config(_stored_config(reference))
    state = reference.load_checkpoint()
    return DeployedPolicy(config, config.env_configs[env_index], state, config.seed)


def _stored_config(reference: RunReference) -> Path:
    return reference.folder.config_path


def _screen(config: RunConfig, console: Console | None) -> Console:
    return console or Console(quiet=config.logging.live == "off")


def _remove_if_nothing_happened(folder: RunFolder) -> None:
    """Leave no folder behind of a run that failed before its first iteration."""
    has_metrics = folder.metrics_path.is_file() and folder.metrics_path.stat().st_size
    if not has_metrics and not any(folder.checkpoints_path.glob("*.pt")):
        shutil.rmtree(folder.path, ignore_errors=True)
