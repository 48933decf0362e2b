"""`rlightning resume`: go on with a run."""

from __future__ import annotations

import rlightning
from rlightning.cli.arguments import DEFAULT_RUNS_FOLDER, Run, RunsFolder, Settings
from rlightning.cli.error_border import reports_errors
from rlightning.cli.outcome import tell_run


@reports_errors
def resume(run: Run, settings: Settings = None, folder: RunsFolder = DEFAULT_RUNS_FOLDER) -> None:
    """Go on with a run from its last checkpoint, in the same folder.

    Metrics after that checkpoint are cut; environments start new episodes. A finished run goes
    on if it is given more steps: `engine.total_env_steps=400_000`.
    """
    tell_run(rlightning.resume(run, settings or [], root=folder))
