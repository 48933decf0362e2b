"""Waiting for the first of several tasks, without a favourite among them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from rlightning.runtime.base import Task
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.queued_task import QueuedTask


def split_in_turn(tasks: Sequence[Task[Any]]) -> tuple[list[Task[Any]], list[Task[Any]]]:
    """Return the done tasks, those whose turn it is first, and the pending ones.

    The turn is that of the task that was looked at most often, and among equals of the one that
    ended first. Whoever serves one of `n` tasks per look so meets each, once it is done, within
    `n` looks.
    """
    done: list[Task[Any]] = []
    pending: list[Task[Any]] = []
    for task in tasks:
        (done if task.is_done() else pending).append(task)
    done.sort(key=_turn)
    return done, pending


def _turn(task: Task[Any]) -> tuple[int, int]:
    if isinstance(task, QueuedTask):
        return -task.num_looks, task.completion_number
    return 0, task.completion_number if isinstance(task, FinishedTask) else -1


def count_look(tasks: Sequence[Task[Any]]) -> list[Task[Any]]:
    """Count a look at all tasks; return those whose turn has come and which have not begun.

    The turn comes at the n-th look at one of `n` tasks, the 2n-th, the 4n-th and so on. A slow
    worker has begun, so it holds up nobody; one whose thread did not get the processor has not.
    """
    overdue: list[Task[Any]] = []
    for task in tasks:
        if isinstance(task, QueuedTask):
            task.num_looks += 1
            num_turns, rest = divmod(task.num_looks, len(tasks))
            is_its_turn = rest == 0 and num_turns & (num_turns - 1) == 0
            if is_its_turn and len(tasks) > 1 and not task.has_begun():
                overdue.append(task)
    return overdue


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
