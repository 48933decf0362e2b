"""Kills a process while it writes checkpoints, again and again, and counts what was lost."""

from __future__ import annotations

import multiprocessing
import random
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from rlightning.engine.atomic_file import PARTIAL_SUFFIX
from rlightning.engine.checkpoint import CheckpointStore
from rlightning.errors import CheckpointError

START_TIMEOUT_SECONDS = 60.0
MAX_DELAY_SECONDS = 0.05
NUM_VALUES = 200_000


@dataclass(frozen=True, slots=True)
class KillCounts:
    """What a series of kills did.

    Attributes:
        num_kills: Processes killed with SIGKILL while they were writing in a loop.
        num_lost: Kills after which the newest checkpoint could not be read, was not whole, or
            was older than one that had been reported as written.
        num_in_the_middle: Kills that left a half-written temporary file.
    """

    num_kills: int
    num_lost: int
    num_in_the_middle: int


def count_kills(folder: Path, num_kills: int, seed: int = 0) -> KillCounts:
    """Kill a writer `num_kills` times at random moments; each one goes on where it was killed.

    Args:
        folder: Of the checkpoints; empty or left by an earlier call.
        num_kills: How often.
        seed: Of the moments.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    moments = random.Random(seed)  # noqa: S311  chooses moments, keeps no secret
    num_lost = num_in_the_middle = 0
    for _ in range(num_kills):
        receiver, sender = context.Pipe(duplex=False)
        writer = context.Process(target=_write_forever, args=(folder, sender), daemon=True)
        writer.start()
        sender.close()
        reported = _kill_later(writer, receiver, moments.uniform(0.0, MAX_DELAY_SECONDS))
        num_lost += not _is_whole(folder, reported)
        num_in_the_middle += any(folder.glob(f".*{PARTIAL_SUFFIX}"))
    return KillCounts(num_kills, num_lost, num_in_the_middle)


def _kill_later(
    writer: multiprocessing.process.BaseProcess, receiver: Connection, delay_seconds: float
) -> int:
    """Wait for the first save, then the delay; kill; return the last iteration reported."""
    if not receiver.poll(START_TIMEOUT_SECONDS):
        writer.kill()
        raise CheckpointError("expected the writer to save a first checkpoint, it did not")
    writer.join(delay_seconds)
    writer.kill()
    writer.join()
    writer.close()
    reported = 0
    try:
        while receiver.poll():
            reported = receiver.recv()
    except EOFError:
        pass
    receiver.close()
    return reported


def _write_forever(folder: Path, sender: Connection) -> None:
    store = CheckpointStore(folder, keep=2)
    latest = store.entries()
    iteration = latest[-1].iteration if latest else 0
    while True:
        iteration += 1
        weights = torch.full((NUM_VALUES,), float(iteration))
        store.save({"iteration": iteration, "weights": weights}, iteration, float(iteration % 7))
        sender.send(iteration)


def _is_whole(folder: Path, reported_iteration: int) -> bool:
    try:
        payload = CheckpointStore(folder).load_latest()
    except CheckpointError:
        return False
    iteration = payload["iteration"]
    is_complete = bool((payload["weights"] == float(iteration)).all())
    return is_complete and iteration >= reported_iteration
