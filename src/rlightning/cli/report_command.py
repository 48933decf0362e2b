"""`rlightning report`: a run as a page with pictures."""

from __future__ import annotations

import typer

from rlightning.cli.arguments import DEFAULT_RUNS_FOLDER, Run, RunsFolder
from rlightning.cli.error_border import reports_errors
from rlightning.engine.run_folder import RunFolder


@reports_errors
def report(run: Run, folder: RunsFolder = DEFAULT_RUNS_FOLDER) -> None:
    """Write `report/report.html` into the run's folder, with PNG pictures beside it."""
    path = RunFolder.open(run, folder).path
    from rlightning.cli.report import write_report  # noqa: PLC0415 - matplotlib loads slowly

    typer.echo(f"report: {write_report(path)}")
