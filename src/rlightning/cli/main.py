"""The command `rlightning`. Commands load torch only when they need it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rlightning._version import __version__
from rlightning.cli.config_command import config
from rlightning.cli.error_border import show_tracebacks
from rlightning.cli.evaluate_command import evaluate
from rlightning.cli.exit_codes import ExitCode
from rlightning.cli.plan_command import plan
from rlightning.cli.report_command import report
from rlightning.cli.resume_command import resume
from rlightning.cli.train_command import train

_DEBUG = "--debug"
_EXIT_CODES = "\n".join(f"* `{code.value}` {code.meaning}" for code in ExitCode)


class _CommandsWithDebug(TyperGroup):
    """Lets `--debug` stand anywhere on the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        others = [word for word in args if word != _DEBUG]
        is_debugging = len(others) < len(args)
        return super().parse_args(ctx, [_DEBUG, *others] if is_debugging else others)


app = typer.Typer(
    cls=_CommandsWithDebug,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Exit codes:\n\n{_EXIT_CODES}",
)
app.command()(train)
app.command()(resume)
app.command()(evaluate)
app.command()(config)
app.command()(plan)
app.command()(report)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"rlightning {__version__}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[
        bool,
        typer.Option(_DEBUG, help="Show tracebacks of errors; may stand anywhere."),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Train and evaluate policies of which few replicas serve many environments."""
    show_tracebacks(debug)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # own environments, networks and algorithms: module:Name


def main() -> None:
    """Run the command line; never returns."""
    app(prog_name="rlightning")


if __name__ == "__main__":
    main()
