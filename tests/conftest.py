"""What holds for every test: one thread for tensor libraries, and nothing left running."""

from __future__ import annotations

import os

# Set before anything imports a tensor library or a plotting one: both read them once, at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

GRACE_SECONDS = 2.0
# Kept by the standard library for as long as the process lives.
KEPT_BY_MULTIPROCESSING = ("resource_tracker", "forkserver")

# Examples differ in cost by what the machine does beside them; the time limit is pytest's.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _nothing_keeps_running() -> Iterator[None]:
    """Fail a test that leaves a thread that would hold up the exit, or a child process."""
    threads_before = set(threading.enumerate())
    children_before = _child_processes().keys()
    yield
    left = _wait_until_empty(
        lambda: [
            *_threads_that_hold_up_the_exit(threads_before),
            *(
                f"process {process_id}: {command}"
                for process_id, command in _child_processes().items()
                if process_id not in children_before
            ),
        ]
    )
    if left:
        pytest.fail(f"expected nothing left running after the test, got {left}: stop or join it")


def _threads_that_hold_up_the_exit(threads_before: set[threading.Thread]) -> list[str]:
    return [
        repr(thread)
        for thread in threading.enumerate()
        if thread.is_alive() and not thread.daemon and thread not in threads_before
    ]


def _child_processes() -> dict[str, str]:
    """Return the command of each running child by process id; none where there is no /proc.

    The command is empty for a moment after the start, before the program is loaded.
    """
    commands = {
        process_id: _read_or_empty(Path("/proc", process_id, "cmdline")).replace("\0", " ")
        for task in Path("/proc/self/task").glob("*/children")
        for process_id in _read_or_empty(task).split()
        if "State:\tZ" not in _read_or_empty(Path("/proc", process_id, "status"))
    }
    return {
        process_id: command
        for process_id, command in commands.items()
        if not any(kept in command for kept in KEPT_BY_MULTIPROCESSING)
    }


def _read_or_empty(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the thread or process ended while we looked
        return ""


def _wait_until_empty(find: Callable[[], list[str]]) -> list[str]:
    """Look until nothing is found or the grace is over; threads need a moment to end."""
    deadline = time.monotonic() + GRACE_SECONDS
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found
