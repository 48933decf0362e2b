"""Whether the presets learn: every seed by the real command, its final evaluation beside the bar.

python -m benchmarks.bars learn
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bar import Bar
from rlightning.config.loading import load_config
from rlightning.engine.stored_evaluation import StoredEvaluation, read_evaluation
from rlightning.errors import EvaluationError

NUM_EPISODES = 100
QUICK_ENV_STEPS = 2_000


@dataclass(frozen=True)
class LearningTask:
    """What a preset must reach.

    Attributes:
        preset: Its name.
        min_return: Mean over the final evaluation's episodes.
        max_env_steps: Environment steps within which it is reached.
        seeds: Every one of them must.
    """

    preset: str
    min_return: float
    max_env_steps: int
    seeds: tuple[int, ...]


TASKS = (
    LearningTask("cartpole-ppo", 475.0, 150_000, (0, 1, 2, 3, 4)),
    LearningTask("pendulum-ppo", -250.0, 300_000, (0, 1, 2)),
    LearningTask("acrobot-ppo", -100.0, 500_000, (0, 1, 2)),
)


def learning_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Train every preset with every seed, one after the other; one bar each."""
    for task in TASKS:
        for seed in task.seeds[:1] if is_quick else task.seeds:
            yield _learning_bar(task, seed, is_quick)


def whole_iterations(preset: str, max_env_steps: int) -> int:
    """Return the largest end of a whole iteration that is not above `max_env_steps`.

    A run ends with the iteration that reaches its length, so it may go beyond it.
    """
    config = load_config(preset)
    num_envs = sum(env.num_workers * env.num_envs for env in config.env_configs)
    steps = num_envs * config.engine.rollout_length
    return max_env_steps // steps * steps


def is_reached(evaluation: StoredEvaluation, task: LearningTask) -> bool:
    """Return whether a final evaluation is of the asked kind and good enough."""
    return (
        evaluation.deterministic
        and evaluation.episodes == NUM_EPISODES
        and evaluation.env_steps <= task.max_env_steps
        and evaluation.mean >= task.min_return
    )


def shown(evaluation: StoredEvaluation, seconds: float) -> str:
    """Return an evaluation as one line."""
    return (
        f"{evaluation.mean:.1f} ± {evaluation.std:.1f} over {evaluation.episodes} episodes "
        f"after {evaluation.env_steps:,} steps, {seconds:.0f} s"
    )


def _learning_bar(task: LearningTask, seed: int, is_quick: bool) -> Bar:
    settings = [f"seed={seed}", "logging.live=off", *_length(task, is_quick)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        evaluation = _trained(task.preset, [*settings, f"logging.folder={folder}"], Path(folder))
    seconds = time.monotonic() - started
    return Bar(
        f"{task.preset} >= {task.min_return:g} within {task.max_env_steps:,} steps, seed {seed}",
        " ".join(["rlightning train", task.preset, *settings]),
        shown(evaluation, seconds),
        is_reached(evaluation, task),
    )


def _length(task: LearningTask, is_quick: bool) -> list[str]:
    """Return the setting that keeps the run within its steps; none if the preset does already."""
    if is_quick:
        return [f"engine.total_env_steps={QUICK_ENV_STEPS}"]
    longest = whole_iterations(task.preset, task.max_env_steps)
    if load_config(task.preset).engine.total_env_steps <= longest:
        return []
    return [f"engine.total_env_steps={longest}"]


def _trained(preset: str, settings: Sequence[str], runs: Path) -> StoredEvaluation:
    """Train in a process of its own and return the final evaluation."""
    subprocess.run(
        [sys.executable, "-m", "rlightning.cli.main", "train", preset, *settings],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    return final_evaluation(runs)


def final_evaluation(runs: Path) -> StoredEvaluation:
    """Return the final evaluation of the only run in a folder of runs."""
    (folder,) = runs.iterdir()
    evaluation = read_evaluation(folder / "evaluation.json")
    if evaluation is None:
        raise EvaluationError(
            f"expected a final evaluation in {folder}, got none; "
            "set engine.final_evaluation_episodes"
        )
    return evaluation
