"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rlightning.cli.completion import complete_run, complete_setting

Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Single settings laid over the configuration, such as `seed=1` or "
        "`engine.total_env_steps=200_000`.",
        autocompletion=complete_setting,
        show_default=False,
    ),
]

Run: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: the path of its folder, its name, `latest`, or the path of a checkpoint.",
        autocompletion=complete_run,
    ),
]

RunsFolder: TypeAlias = Annotated[
    Path, typer.Option("--folder", help="Folder in which runs are looked up by name.")
]

DEFAULT_RUNS_FOLDER = Path("runs")
