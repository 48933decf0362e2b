"""`rlightning config`: presets, resolved settings, schema and reference."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rlightning.cli.arguments import Settings
from rlightning.cli.completion import complete_source
from rlightning.cli.error_border import reports_errors
from rlightning.config.loading import load_config
from rlightning.config.preset_library import preset_names, preset_summary
from rlightning.config.reference import configuration_reference, configuration_schema
from rlightning.config.yaml_text import config_yaml


@reports_errors
def config(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET|FILE.yaml",
            help="What to print; without it, presets are listed.",
            autocompletion=complete_source,
            show_default=False,
        ),
    ] = None,
    settings: Settings = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a configuration file.")
    ] = False,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference", help="Print every setting with type, default, unit and meaning."
        ),
    ] = False,
) -> None:
    """List the presets, or print all settings of one as YAML that can be saved and trained."""
    if schema:
        typer.echo(json.dumps(configuration_schema(), indent=2))
    elif reference:
        typer.echo(configuration_reference(), nl=False)
    elif source is None:
        typer.echo(_list_of_presets(), nl=False)
    else:
        typer.echo(config_yaml(load_config(source, settings or [])), nl=False)


def _list_of_presets() -> str:
    width = max(map(len, preset_names()))
    return "".join(f"{name:<{width}}  {preset_summary(name)}\n" for name in preset_names())
