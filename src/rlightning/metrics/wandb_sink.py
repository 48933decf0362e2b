"""Weights & Biases, for those who have the extra `wandb`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlightning.errors import MissingExtraError
from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.names import tensorboard_tag
from rlightning.metrics.sink import Sink


class WandbSink(Sink):
    """Logs every number under its TensorBoard tag, over environment steps.

    Args:
        project: Project at Weights & Biases.
        folder: Folder of the run; its name is the run's name and id, so that a resumed run goes
            on in the same place.
        settings: The resolved configuration.

    Raises:
        MissingExtraError: If the package is not installed.
    """

    def __init__(self, project: str, folder: Path, settings: Mapping[str, Any]) -> None:
        self.name = f"Weights & Biases {project}"
        self._project = project
        self._folder = folder
        self._settings = dict(settings)
        self._wandb = import_wandb()
        self._run: Any = None

    def start(self) -> None:
        """Open the run, or go on with it."""
        self._run = self._wandb.init(
            project=self._project,
            name=self._folder.name,
            id=self._folder.name,
            dir=str(self._folder),
            config=self._settings,
            resume="allow",
        )
        self._run.define_metric("*", step_metric=tensorboard_tag("env_steps"))

    def record(self, report: IterationReport, row: Row) -> None:
        """Send one iteration."""
        values = {tensorboard_tag(key): value for key, value in row.items() if value is not None}
        self._run.log(values)

    def close(self) -> None:
        """Finish the run."""
        if self._run is not None:
            self._run.finish()
            self._run = None


def import_wandb() -> Any:
    """Return the package.

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise MissingExtraError(
            f"Weights & Biases expects the package of the extra 'wandb', got: {error}; "
            "install it with: pip install 'rlightning[wandb]', or set logging.wandb=false"
        ) from error
