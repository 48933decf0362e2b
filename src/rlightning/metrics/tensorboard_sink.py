"""TensorBoard event files, over environment steps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.names import tensorboard_tag
from rlightning.metrics.sink import Sink
from rlightning.metrics.task_shares import tasks_by_replica


class TensorBoardSink(Sink):
    """Writes every number as a scalar, tasks added up by replica.

    One event holds all scalars of an iteration, which costs a small part of one event for each.

    Args:
        folder: Where the event files go.
        resumed_at_env_steps: Steps of the checkpoint that the run goes on from; TensorBoard then
            hides what an earlier part wrote beyond them.
    """

    def __init__(self, folder: Path, resumed_at_env_steps: int | None = None) -> None:
        self.name = f"TensorBoard {folder}"
        self._folder = folder
        self._resumed_at_env_steps = resumed_at_env_steps
        self._writer: Any = None

    def start(self) -> None:
        """Open an event file."""
        from tensorboard.compat.proto.event_pb2 import SessionLog  # noqa: PLC0415  loads slowly
        from tensorboard.summary.writer.event_file_writer import (  # noqa: PLC0415  loads slowly
            EventFileWriter,
        )

        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer = EventFileWriter(str(self._folder))
        if self._resumed_at_env_steps is not None:
            first_hidden = self._resumed_at_env_steps + 1
            self._add(first_hidden, session_log=SessionLog(status=SessionLog.START))

    def record(self, report: IterationReport, row: Row) -> None:
        """Add the scalars of one iteration."""
        from tensorboard.compat.proto.summary_pb2 import Summary  # noqa: PLC0415  loads slowly

        scalars = {
            tensorboard_tag(name): value
            for name, value in row.items()
            if value is not None and not name.startswith("tasks/") and name != "env_steps"
        }
        for replica_id, count in tasks_by_replica(report.tasks).items():
            scalars[f"routing/tasks/{replica_id}"] = count
        values = [Summary.Value(tag=tag, simple_value=scalars[tag]) for tag in scalars]
        self._add(report.env_steps, summary=Summary(value=values))

    def close(self) -> None:
        """Write out what is left."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _add(self, step: int, **content: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event  # noqa: PLC0415  loads slowly

        if self._writer is None:
            raise OSError(f"no event file in {self._folder}: expected start() before record()")
        self._writer.add_event(Event(wall_time=time.time(), step=step, **content))
