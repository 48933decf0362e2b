"""What a Ray leaves behind: processes, shared memory, folders of its sessions."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "RLIGHTNING_TEST_MARK"
"""Environment variable that all processes of a test inherit."""

HOME_VARIABLE = "RAY_TMPDIR"
"""Environment variable with the folder in which Ray makes one for each session."""

SHORT_PARENT = Path("/", "tmp")
SHARED_MEMORY = Path("/dev", "shm")
SECONDS_BETWEEN_LOOKS = 0.1


@contextmanager
def ray_home() -> Iterator[Path]:
    """Have every Ray that is started meanwhile keep its files in a folder that is removed then.

    Its path is short: that of a socket has about a hundred characters, and most lie below it.
    """
    parent = SHORT_PARENT if SHORT_PARENT.is_dir() else None
    home = Path(tempfile.mkdtemp(prefix="ray-", dir=parent))
    former = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(home)
    try:
        yield home
    finally:
        del os.environ[HOME_VARIABLE]
        if former is not None:
            os.environ[HOME_VARIABLE] = former
        shutil.rmtree(home, ignore_errors=True)


class RayLeftovers:
    """Finds what came since it was made and is still there.

    Where there is no ``/proc`` or no ``/dev/shm``, nothing is found there.

    Args:
        mark: Value of the variable `MARK` in the environment of the processes that count.
        home: What `HOME_VARIABLE` says to those processes.
    """

    def __init__(self, mark: str, home: Path) -> None:
        self._mark = mark
        self._folder = home / "ray"
        self._shared_before = _names(SHARED_MEMORY)

    def found(self) -> list[str]:
        """Return a line for each process, each file of shared memory, each folder of a session."""
        shared = sorted(_names(SHARED_MEMORY) - self._shared_before)
        return [
            *(
                f"process {number}: {command[:100]}"
                for number, command in marked_processes(self._mark)
            ),
            *(f"shared memory {SHARED_MEMORY / name}" for name in shared),
            *(f"folder {path}" for path in self._session_folders()),
        ]

    def require_none(self, grace_seconds: float) -> None:
        """Wait until nothing is left.

        Raises:
            AssertionError: If something still is after the grace; such processes are ended now.
        """
        deadline = time.monotonic() + grace_seconds
        while left := self.found():
            if time.monotonic() > deadline:
                self._clear()
                lines = "\n  ".join(left)
                raise AssertionError(
                    f"expected nothing of Ray to be left, but there is after {grace_seconds:g} s:"
                    f"\n  {lines}\nstop what was started, also after an error"
                )
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def remove_folders_of(self, process_id: int) -> None:
        """Remove the folders of the Rays that a process started; their names end with its id."""
        for path in self._session_folders():
            if path.name.rpartition("_")[2] == str(process_id):
                shutil.rmtree(path, ignore_errors=True)

    def _clear(self) -> None:
        """Let what is left now not count again, so that only the test that left it fails."""
        for process_id, _ in marked_processes(self._mark):
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        for path in self._session_folders():
            shutil.rmtree(path, ignore_errors=True)
        self._shared_before = _names(SHARED_MEMORY)

    def _session_folders(self) -> list[Path]:
        """Return the folders, without the link to the latest of them."""
        found = sorted(self._folder.glob("session_*"))
        return [path for path in found if path.is_dir() and not path.is_symlink()]


def marked_processes(mark: str) -> Iterator[tuple[int, str]]:
    """Yield the id and the command of each process with this mark, but for this process."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_marked = wanted in (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_text().replace("\0", " ").strip()
        except (OSError, UnicodeDecodeError):  # it ended, or is not ours
            continue
        if is_marked and int(folder.name) != os.getpid():
            yield int(folder.name), command


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*")}
