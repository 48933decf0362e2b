"""Tell how a run or an evaluation ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console

from rlightning.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from rlightning.engine.training import EvaluationResult, RunResult


def tell_run(result: RunResult) -> None:
    """Print where the run lies and how good the policy is.

    Raises:
        typer.Exit: With `ExitCode.INTERRUPTED` if the run was interrupted.
    """
    console = Console(soft_wrap=True)
    steps = f"{result.env_steps:,}".replace(",", " ")
    ending = "interrupted after" if result.was_interrupted else "finished:"
    console.print(f"{ending} {steps} steps, {result.iterations} iterations", highlight=False)
    if result.evaluation is not None:
        tell_evaluation(result.evaluation)
    path = result.run_folder
    _tell(console, f"run folder: {path}")
    if result.was_interrupted:
        _tell(console, f"go on with: rlightning resume {path}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    _tell(console, f"look at it:    rlightning report {path}")
    _tell(console, f"               tensorboard --logdir {path}")
    _tell(console, f"evaluate it:   rlightning evaluate {path}")
    _tell(console, f"resume it:     rlightning resume {path} engine.total_env_steps=…")


def tell_evaluation(evaluation: EvaluationResult) -> None:
    """Print mean, spread and length of the episodes."""
    _tell(
        Console(soft_wrap=True),
        f"return over {evaluation.num_episodes} episodes: {evaluation.mean_return:.2f} "
        f"± {evaluation.std_return:.2f} (from {evaluation.min_return:.2f} to "
        f"{evaluation.max_return:.2f}), length {evaluation.mean_length:.1f} steps",
    )


def _tell(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)
