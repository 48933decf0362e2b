"""Waiting until a worker has nothing left to do."""

from __future__ import annotations

import threading

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.runtime.base import WorkerHandle

LOOK_SECONDS = 0.01


def wait_until_idle(
    submitter: TaskSubmitter,
    worker: WorkerHandle,
    timeout_seconds: float,
    clock: Clock = monotonic_clock,
) -> bool:
    """Wait until a worker that gets no new calls has answered all it has.

    Returns:
        Whether it has; False if the time is over before.
    """
    deadline = clock() + timeout_seconds
    pause = threading.Event()
    while submitter.load(worker):
        if clock() >= deadline:
            return False
        pause.wait(LOOK_SECONDS)
    return True
