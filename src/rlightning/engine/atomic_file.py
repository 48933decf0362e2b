"""Writing a file so that a crash at any moment leaves the old content or the new, never half."""

from __future__ import annotations

import os
from pathlib import Path

PARTIAL_SUFFIX = ".partial"
"""Ends the names of files that are being written; one found later is left over from a crash."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace or create a file in one step that survives a kill and a loss of power.

    Writes beside the target, flushes to the disk, renames over the target, and flushes the
    folder. After an error the target is as before and nothing is left beside it.

    Raises:
        OSError: If the content cannot be written, for example because the disk is full.
    """
    partial = path.with_name(f".{path.name}{PARTIAL_SUFFIX}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def remove_leftovers(folder: Path) -> None:
    """Delete what an interrupted `write_atomically` left in a folder."""
    for partial in folder.glob(f".*{PARTIAL_SUFFIX}"):
        partial.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
