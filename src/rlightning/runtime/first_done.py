"""Waiting for the first of several tasks, without a favourite among them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from rlightning.runtime.base import Task
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.queued_task import QueuedTask


def split_by_completion(
    tasks: Sequence[Task[Any]],
) -> tuple[list[Task[Any]], list[Task[Any]]]:
    """Return the done tasks in the order in which they ended, and the pending ones."""
    done: list[Task[Any]] = []
    pending: list[Task[Any]] = []
    for task in tasks:
        (done if task.is_done() else pending).append(task)
    done.sort(key=_completion_number)
    return done, pending


def _completion_number(task: Task[Any]) -> int:
    return task.completion_number if isinstance(task, FinishedTask | QueuedTask) else -1


def wait_first_done(tasks: Sequence[Task[Any]], timeout_seconds: float | None) -> bool:
    """Wait until one of the tasks is done; return False at the deadline.

    Nothing is left behind on the tasks, however often the same ones are waited for.
    """
    first_done = threading.Event()

    def wake(_: Task[Any]) -> None:
        first_done.set()

    for task in tasks:
        task.add_done_callback(wake)
    try:
        return first_done.wait(timeout_seconds)
    finally:
        for task in tasks:
            if isinstance(task, QueuedTask):
                task.remove_done_callback(wake)
