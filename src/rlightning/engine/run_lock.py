"""Lets one process at a time train in a run's folder."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from rlightning.errors import RunFolderError

LOCK_NAME = "lock"
_HAS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class RunLock:
    """Holds a run's folder while the context lasts.

    The operating system gives the lock back when its process ends, however that happens, so a
    kill leaves none behind. The file stays; it holds the process id of the last owner. On a file
    system without locks nothing is held.

    Args:
        folder: Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            RunFolderError: If another process, or another run of this one, has it, or if the
                folder cannot be written.
        """
        path = self._folder / LOCK_NAME
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise RunFolderError(
                f"expected to write the run folder, but cannot write {path}: {error.strerror}; "
                "set the permissions"
            ) from error
        try:
            self._take(self._descriptor)
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give_back()

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", errors="replace").strip()
            raise RunFolderError(
                f"expected a run that nobody trains, but process {owner or 'unknown'} is at "
                f"work in {self._folder}; wait until it ends, or end it first"
            ) from error
        except OSError as error:
            if error.errno not in _HAS_NO_LOCKS:
                raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)

    def _give_back(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
