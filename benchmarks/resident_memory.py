"""The resident memory of a run on Ray, looked at again and again."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import ray

from rlightning.testing.ray_leftovers import marked_processes

DRIVER, STORE, RAY = "driver", "object store", "raylet and others of Ray"
WORKER_TITLE = "ray::"
STORE_RESOURCE = "object_store_memory"
KIB = 1024
NOISE_BYTES = 4 * KIB * KIB


@dataclass(frozen=True)
class Change:
    """How the memory of one kind of process went over the windows after the warm-up.

    Attributes:
        means: Of the bytes in each window, in order.
    """

    means: tuple[float, ...]

    @property
    def first_bytes(self) -> float:
        """Mean of the first window."""
        return self.means[0]

    @property
    def last_bytes(self) -> float:
        """Mean of the last window."""
        return self.means[-1]

    @property
    def largest_bytes(self) -> float:
        """Largest difference of a window's mean to the first one."""
        return max((mean - self.means[0] for mean in self.means), key=abs)

    @property
    def share(self) -> float:
        """The largest difference as a part of the first mean."""
        return self.largest_bytes / max(self.first_bytes, 1.0)

    def is_flat(self, max_share: float) -> bool:
        """Say whether the difference is small; what is below `NOISE_BYTES` always is."""
        return abs(self.largest_bytes) <= max(max_share * self.first_bytes, NOISE_BYTES)


@dataclass
class MemoryRecord:
    """Samples of bytes by name, each with its time in seconds since the start."""

    seconds: list[float] = field(default_factory=list)
    samples: list[dict[str, float]] = field(default_factory=list)

    def changes(self, warm_up_seconds: float, window_seconds: float) -> dict[str, Change]:
        """Compare the means of windows; names that were not there in each window are left out."""
        windows: dict[int, list[dict[str, float]]] = {}
        for when, sample in zip(self.seconds, self.samples, strict=True):
            if when >= warm_up_seconds:
                windows.setdefault(int((when - warm_up_seconds) / window_seconds), []).append(
                    sample
                )
        names = set.intersection(*(set(s) for window in windows.values() for s in window))
        return {
            name: Change(
                tuple(
                    statistics.mean(sample[name] for sample in window)
                    for window in windows.values()
                )
            )
            for name in sorted(names)
        }


@contextmanager
def recorded_memory(
    mark: str,
    names: Mapping[int, str],
    seconds_between: float,
    at_each_look: Callable[[], object] = lambda: None,
) -> Iterator[MemoryRecord]:
    """Look at this process, and at all with this mark, on a thread until the block ends.

    Args:
        mark: Of the processes of the run.
        names: By process id; other worker processes get a name from their id.
        seconds_between: Two looks.
        at_each_look: Called with each look.
    """
    record, is_over, started = MemoryRecord(), threading.Event(), time.monotonic()

    def look() -> None:
        while not is_over.wait(seconds_between):
            record.seconds.append(time.monotonic() - started)
            record.samples.append(_sample(mark, names))
            at_each_look()

    thread = threading.Thread(target=look, name="memory-looks", daemon=True)
    thread.start()
    try:
        yield record
    finally:
        is_over.set()
        thread.join()


def _sample(mark: str, names: Mapping[int, str]) -> dict[str, float]:
    sample = {DRIVER: private_bytes(os.getpid()), STORE: store_bytes(), RAY: 0.0}
    for process_id, command in marked_processes(mark):
        if process_id in names or command.startswith(WORKER_TITLE):
            name = names.get(process_id, f"worker in process {process_id}")
            sample[name] = private_bytes(process_id)
        else:
            sample[RAY] += private_bytes(process_id)
    return sample


def store_bytes() -> float:
    """Return what objects take in all object stores together, as Ray tells it."""
    offered, free = ray.cluster_resources(), ray.available_resources()  # type: ignore[no-untyped-call]
    return float(offered.get(STORE_RESOURCE, 0.0) - free.get(STORE_RESOURCE, 0.0))


def private_bytes(process_id: int) -> float:
    """Return the resident memory that a process shares with nobody; 0 if it is gone."""
    try:
        lines = Path("/proc", str(process_id), "status").read_text().splitlines()
    except OSError:
        return 0.0
    amounts = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return float(amounts[0]) * KIB if amounts else 0.0
