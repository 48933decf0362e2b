"""Waiting for the first of several tasks, without a favourite among them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from rlightning.errors import TaskTimeoutError, WorkerError
from rlightning.runtime.base import Task
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.queued_task import QueuedTask


def wait_any(
    tasks: Sequence[Task[Any]],
    timeout_seconds: float | None,
    *,
    overdue_seconds: float,
    describe: Callable[[str], str | None],
) -> tuple[list[Task[Any]], list[Task[Any]]]:
    """Wait until one task is done; return the done ones in turn, and the pending ones.

    Args:
        tasks: At least one.
        timeout_seconds: Longest wait; None for no limit.
        overdue_seconds: Longest wait beyond that for those whose turn it is.
        describe: Returns what a worker of that id does, for the error; None for an unknown one.

    Raises:
        WorkerError: If there is no task.
        TaskTimeoutError: If none is done in time.
    """
    if not tasks:
        raise WorkerError("expected at least one task to wait for, got none: nothing runs")
    if not any(task.is_done() for task in tasks) and not wait_first_done(tasks, timeout_seconds):
        raise TaskTimeoutError(_unanswered(tasks, timeout_seconds, describe))
    overdue = count_look(tasks)
    if overdue:
        wait_first_done(overdue, overdue_seconds)
    return split_in_turn(tasks)


def _unanswered(
    tasks: Sequence[Task[Any]], seconds: float | None, describe: Callable[[str], str | None]
) -> str:
    lines = [f"expected an answer to one of {len(tasks)} calls within {seconds} s, got none:"]
    lines += [f"  {task!r}" for task in tasks]
    workers = (describe(worker_id) for worker_id in dict.fromkeys(t.worker_id for t in tasks))
    lines += [f"  {worker}" for worker in workers if worker is not None]
    return "\n".join([*lines, "raise the timeout, or look at what hangs"])


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
