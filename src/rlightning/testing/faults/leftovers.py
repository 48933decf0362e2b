"""What a Ray that this process has started leaves behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  looks for files that Ray made
SESSIONS = Path("/tmp/ray")  # noqa: S108  likewise
PROCESSES = Path("/proc")
SECONDS_TO_END = 10.0


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was there before: of this process's sessions, and files in shared memory.

    Attributes:
        things: Each in a few words.
    """

    things: frozenset[str]

    @classmethod
    def now(cls) -> Self:
        """Look."""
        return cls(frozenset(_things()))

    def added_since(self) -> list[str]:
        """Return what is there now beside that, after some time to go by itself."""
        deadline = time.monotonic() + SECONDS_TO_END
        while (added := set(_things()) - self.things) and time.monotonic() < deadline:
            time.sleep(0.1)
        return sorted(added)


def _things() -> Iterator[str]:
    """Yield processes and folders of Ray sessions that this process has started, and files."""
    mark = f"_{os.getpid()}"
    for folder in SESSIONS.glob(f"session_*{mark}"):
        yield f"folder {folder}"
    for process in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            if any(f"{mark}/" in text for text in _traces(process)):
                yield f"process {process.name}"
    for file in SHARED_MEMORY.glob("*"):
        yield f"file {file}"


def _traces(process: Path) -> Iterator[str]:
    """Yield what tells of the session of a process: its arguments, and where its output goes."""
    yield (process / "cmdline").read_text(errors="replace")
    for stream in ("1", "2"):
        yield str((process / "fd" / stream).readlink())
