"""`rlightning evaluate`: play episodes with a trained policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import rlightning
from rlightning.cli.arguments import DEFAULT_RUNS_FOLDER, Run, RunsFolder
from rlightning.cli.error_border import reports_errors
from rlightning.cli.outcome import tell_evaluation


@reports_errors
def evaluate(
    run: Run,
    *,
    episodes: Annotated[int, typer.Option(min=1, help="Number of episodes.")] = 100,
    video: Annotated[
        bool,
        typer.Option("--video", help="Film episodes into the folder `videos` of the run."),
    ] = False,
    stochastic: Annotated[
        bool,
        typer.Option("--stochastic", help="Draw actions, instead of taking the likeliest."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the episodes; by default one that training never uses."),
    ] = None,
    folder: RunsFolder = DEFAULT_RUNS_FOLDER,
) -> None:
    """Play episodes with the policy of a run's last checkpoint and print their returns."""
    video_folder = _video_folder(run, folder) if video else None
    result = rlightning.evaluate(
        run,
        episodes=episodes,
        deterministic=not stochastic,
        seed=seed,
        video_folder=video_folder,
        root=folder,
    )
    tell_evaluation(result)
    if video_folder is not None:
        typer.echo(f"videos: {video_folder}")


def _video_folder(run: str, root: Path) -> Path:
    from rlightning.engine.run_reference import find_run  # noqa: PLC0415 - loads torch

    return find_run(run, root).folder.path / "videos"
