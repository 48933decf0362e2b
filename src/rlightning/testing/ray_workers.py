"""A worker on which what concerns processes is tried: importable wherever the package is."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np

from rlightning.errors import WorkerError
from rlightning.runtime.gathered import gathered

SECONDS_OF_A_SLOW_RUN = 0.1


class NotPicklableError(Exception):
    """An error whose constructor does not take what pickle gives it."""

    def __init__(self, text: str, *, code: int) -> None:
        super().__init__(text)
        self.code = code


class Bench:
    """Sleeps, measures, remembers and fails on demand."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._batches: list[int] = []
        self._inside = 0
        self._version = 0
        self._array = np.zeros(200_000, np.float32)
        self._seconds: float | None = None

    @classmethod
    def create_slowly(cls) -> Bench:
        """Take long to be made."""
        time.sleep(60.0)
        return cls()

    @classmethod
    def fail_to_be_made(cls) -> Bench:
        """Raise instead of being made."""
        raise WorkerError("this one cannot be made")

    def describe_activity(self) -> str:
        """Return how long it sleeps."""
        return f"asleep for {self._seconds} s"

    def process_id(self) -> int:
        """Return the id of its process."""
        return os.getpid()

    def echo(self, value: Any) -> Any:
        """Return the value."""
        return value

    def sleep(self, seconds: float) -> None:
        """Sleep."""
        self._seconds = seconds
        time.sleep(seconds)

    def remember(self, value: Any) -> None:
        """Append a value."""
        self._seen.append(value)

    def seen(self) -> list[Any]:
        """Return what was remembered."""
        return self._seen

    def fail_not_picklable(self) -> None:
        """Raise what cannot leave the process."""
        raise NotPicklableError("kept here", code=1)

    def lock(self) -> Any:
        """Return what cannot leave the process."""
        return threading.Lock()

    @gathered(max_batch_calls=16)
    def sizes(self, values: list[bytes]) -> list[int]:
        """Return the length of each."""
        self._batches.append(len(values))
        return [len(value) for value in values]

    def batches(self) -> list[int]:
        """Return how many calls each run of `sizes` answered."""
        return self._batches

    def set_weights(self, version: int) -> None:
        """Take a version."""
        self._version = version

    @gathered(max_batch_calls=4)
    def slow_size(self, values: list[bytes]) -> list[int]:
        """Return the version, after a while."""
        time.sleep(SECONDS_OF_A_SLOW_RUN)
        return [self._version for _ in values]

    def enter_and_leave(self) -> int:
        """Return the most that were inside at a time."""
        self._inside += 1
        most = self._inside
        time.sleep(0.02)
        self._inside -= 1
        return most

    @gathered()
    def gathered_enter_and_leave(self, values: list[int]) -> list[int]:
        """Do the same for all."""
        return [self.enter_and_leave() for _ in values]

    def large_array(self, num_floats: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return what does not fit into a message."""
        return np.zeros(num_floats, np.float32)

    def same_array(self, value: float) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one and the same array, each time with other content."""
        self._array[:] = value
        return self._array

    def echo_size(self, array: np.ndarray[Any, np.dtype[np.float32]]) -> int:
        """Return the number of elements."""
        return array.size
