"""TensorBoard event files, over environment steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.names import tensorboard_tag
from rlightning.metrics.sink import Sink
from rlightning.metrics.task_shares import tasks_by_replica

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TensorBoardSink(Sink):
    """Writes every number as a scalar, tasks added up by replica.

    Args:
        folder: Where the event files go.
        resumed_at_env_steps: Steps of the checkpoint that the run goes on from; TensorBoard then
            hides what an earlier part wrote beyond them.
    """

    def __init__(self, folder: Path, resumed_at_env_steps: int | None = None) -> None:
        self.name = f"TensorBoard {folder}"
        self._folder = folder
        self._purge_step = None if resumed_at_env_steps is None else resumed_at_env_steps + 1
        self._writer: SummaryWriter | None = None

    def start(self) -> None:
        """Open an event file."""
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  torch loads late

        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer = SummaryWriter(str(self._folder), purge_step=self._purge_step)

    def record(self, report: IterationReport, row: Row) -> None:
        """Add one scalar for each number."""
        if self._writer is None:
            raise OSError(f"no event file in {self._folder}: expected start() before record()")
        for name, value in row.items():
            if value is not None and not name.startswith(("tasks/", "env_steps")):
                self._writer.add_scalar(tensorboard_tag(name), value, report.env_steps)
        for replica_id, count in tasks_by_replica(report.tasks).items():
            self._writer.add_scalar(f"routing/tasks/{replica_id}", count, report.env_steps)

    def close(self) -> None:
        """Write out what is left."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
