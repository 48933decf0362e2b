from __future__ import annotations

from typing import Any

import pytest

from rlightning.env.closing import close_workers
from rlightning.errors import TaskTimeoutError, WorkerDiedError
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.runtime.finished_task import FinishedTask


class NeverClosing(WorkerHandle):
    """Its close does not end before the deadline."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("env-0", None, 1)
        self._error = error
        self.was_killed = False

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Task[Any]:
        return FinishedTask(self.worker_id, method, None, self._error, 0)

    def is_alive(self) -> bool:
        return not self.was_killed

    def stop(self, timeout_seconds: float = 1.0) -> None:
        raise NotImplementedError

    def kill(self) -> None:
        self.was_killed = True


class EndsHangs(NeverClosing):
    can_end_a_hang = True


LATE = TaskTimeoutError("no answer", worker_id="env-0")


def test_a_worker_that_does_not_close_in_time_is_an_error_where_it_cannot_be_ended() -> None:
    worker = NeverClosing(LATE)
    with pytest.raises(TaskTimeoutError):
        close_workers([worker], 1.0)
    assert worker.was_killed


def test_where_it_can_be_ended_it_is_dead_like_others(caplog: pytest.LogCaptureFixture) -> None:
    late, dead = EndsHangs(LATE), EndsHangs(WorkerDiedError("gone", worker_id="env-0"))
    close_workers([late, dead], 1.0)
    assert late.was_killed
    assert dead.was_killed
    assert [record.message for record in caplog.records] == [
        "env-0 does not close and is ended: no answer"
    ]
