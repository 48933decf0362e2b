"""`rlightning train`: a new run."""

from __future__ import annotations

from typing import Annotated

import typer

import rlightning
from rlightning.cli.arguments import Settings
from rlightning.cli.completion import complete_source
from rlightning.cli.error_border import reports_errors
from rlightning.cli.outcome import tell_run
from rlightning.config.loading import load_config


@reports_errors
def train(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PRESET|FILE.yaml",
            help="A preset (`rlightning config` lists them) or the path of a YAML file.",
            autocompletion=complete_source,
        ),
    ],
    settings: Settings = None,
) -> None:
    """Train a policy in a new run folder, then evaluate it.

    `Ctrl-C` writes a checkpoint and ends; `Ctrl-C` twice ends at once.
    """
    config = load_config(source, settings or [])
    tell_run(rlightning.train(config))
