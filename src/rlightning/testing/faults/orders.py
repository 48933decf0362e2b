"""Orders by which a fault reaches into the process of a worker, given as files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

RAISE = "raise"
KEEP_RAISING = "keep raising"
SLOW_DOWN = "slow down"
EAT_MEMORY = "eat memory"

SLOWNESS = 20.0
"""How many times as long a call takes that was ordered to be slow."""

BITE = 8 * 2**20
"""Numbers of 8 bytes that are allocated at a time."""

SECONDS_BETWEEN_BITES = 0.01
MAX_BITES = 200


class OrderedError(RuntimeError):
    """Raised because a fault ordered it."""


def give_order(folder: Path, process_id: int, order: str) -> None:
    """Order something; the worker does it in its next call."""
    written = folder / f"{process_id}.writing"
    written.write_text(order)
    written.rename(_path(folder, process_id))


def obey(folder: Path) -> bool:
    """Do what this process was ordered to.

    Returns:
        Whether the call is to be slow.

    Raises:
        OrderedError: If that is the order.
    """
    path = _path(folder, os.getpid())
    if not path.exists():
        return False
    order = path.read_text()
    if order == RAISE:
        path.unlink()
    if order in (RAISE, KEEP_RAISING):
        raise OrderedError("a fault ordered this")
    if order == EAT_MEMORY:
        _eat_memory()
    return order == SLOW_DOWN


def stay(seconds: float) -> None:
    """Let a call that took so long take as much longer as a slow one does."""
    time.sleep((SLOWNESS - 1.0) * seconds)


def _eat_memory() -> None:
    """Allocate until somebody ends this process."""
    kept = []
    for _ in range(MAX_BITES):
        kept.append(np.ones(BITE))
        time.sleep(SECONDS_BETWEEN_BITES)


def _path(folder: Path, process_id: int) -> Path:
    return folder / f"{process_id}.order"
