"""Ends the process, with a report, when a call hangs on the thread that runs everything."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rlightning.clock import Clock

EXIT_CODE_OF_A_HANG = 70
"""The code for an internal software error (`EX_SOFTWARE` of sysexits.h)."""

SECONDS_TO_CLOSE_DISPLAYS = 5.0
MIN_LOOK_SECONDS = 0.01
MAX_LOOK_SECONDS = 1.0


class Watched(Protocol):
    """A worker whose running call is watched."""

    worker_id: str
    running: tuple[str, float] | None

    def describe_activity(self) -> str:
        """Return what the worker's object says it is doing, or an empty text."""
        ...


@dataclass(frozen=True, slots=True)
class Watch:
    """A worker and the longest time that one of its calls may take."""

    worker: Watched
    limit_seconds: float


def hang_report(watches: list[Watch], now: float) -> str | None:
    """Return a report of the calls that are over their limit, or None if there are none."""
    lines = []
    for watch in watches:
        running = watch.worker.running
        if running is not None and now - running[1] > watch.limit_seconds:
            lines.append(
                f"worker {watch.worker.worker_id!r} hangs in {running[0]}() since "
                f"{now - running[1]:.1f} s{watch.worker.describe_activity()}; its limit is "
                f"{watch.limit_seconds:g} s"
            )
    return "\n".join(lines) or None


def end_process(report: str) -> None:
    """Print the report and the stacks of all threads to stderr and end the process."""
    sys.stderr.write(
        f"error: {report}\nThe process ends now, because a call that runs on the main thread "
        "cannot be interrupted. Look at the stacks below for what hangs, or raise its limit "
        "(env.timeout_seconds, routing.timeout_seconds).\n"
    )
    sys.stderr.flush()
    faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
    os._exit(EXIT_CODE_OF_A_HANG)


class Watchdog:
    """A daemon thread that looks at the running calls; it starts with the first watch.

    It sees a call that sleeps, waits or computes; native code that never lets other threads of
    the interpreter run stops it too.

    Args:
        clock: Seconds; the clock of the watched workers.
        on_hang: Called with the report before the process ends; given five seconds.
        end: What ends the process, given the report.
    """

    def __init__(
        self,
        clock: Clock,
        on_hang: Callable[[str], object] | None = None,
        end: Callable[[str], object] = end_process,
    ) -> None:
        self._clock = clock
        self._on_hang = on_hang
        self._end = end
        self._watches: list[Watch] = []
        self._is_stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, worker: Watched, limit_seconds: float) -> None:
        """Watch one more worker."""
        self._watches = [*self._watches, Watch(worker, limit_seconds)]
        if self._thread is None:
            self._thread = threading.Thread(target=self._main, name="watchdog", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._is_stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _main(self) -> None:
        while not self._is_stopped.wait(self._look_seconds()):
            report = hang_report(self._watches, self._clock())
            if report is not None:
                self._close_displays(report)
                self._end(report)
                return

    def _look_seconds(self) -> float:
        shortest = min(watch.limit_seconds for watch in self._watches)
        return min(MAX_LOOK_SECONDS, max(MIN_LOOK_SECONDS, shortest / 4))

    def _close_displays(self, report: str) -> None:
        if self._on_hang is None:
            return
        closing = threading.Thread(target=self._on_hang, args=(report,), daemon=True)
        closing.start()
        closing.join(SECONDS_TO_CLOSE_DISPLAYS)
