"""Checkpoints of one run: written atomically, checked when read, the newest and the best kept.

A checkpoint is a file of `torch.save`, readable by `torch.load(path, weights_only=True)` without
executing code. Its name tells the iteration and, where there is one, the score:
``iteration-00000120_score-195.5.pt``; so which one is best needs no second file.
"""

from __future__ import annotations

import errno
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from rlightning.engine.atomic_file import remove_leftovers, write_atomically
from rlightning.engine.checkpoint_content import check_payload, read_checked
from rlightning.engine.checkpoint_name import CheckpointEntry, checkpoint_name, list_checkpoints
from rlightning.errors import CheckpointError

CHECKPOINT_FORMAT_VERSION = 2


class CheckpointStore:
    """The checkpoints in one folder. One process writes; any number may read.

    Args:
        folder: Made at the first save if it does not exist.
        keep: How many of the newest stay; the best by score stays besides.
    """

    def __init__(self, folder: Path | str, keep: int = 3) -> None:
        if keep < 1:
            raise CheckpointError(
                f"expected to keep at least 1 checkpoint, got {keep!r}; "
                "set engine.keep_checkpoints to a whole number from 1"
            )
        self._folder = Path(folder)
        self._keep = keep

    def save(self, payload: Mapping[str, Any], iteration: int, score: float | None = None) -> Path:
        """Write a checkpoint, and only when it is safely on the disk remove old ones.

        Checkpoints of later iterations go too: they belong to a course that the run left when
        it was resumed from an earlier one.

        Args:
            payload: Tensors and plain values, nested in dicts, lists and tuples.
            iteration: Iteration after which the state was taken.
            score: What decides which checkpoint is best, higher is better. None and NaN never
                become the best.

        Raises:
            CheckpointError: If the payload holds anything else, or the file cannot be written;
                then the earlier checkpoints are as before.
        """
        check_payload(payload)
        if score is not None and not math.isfinite(score):
            score = None
        content = io.BytesIO()
        torch.save(
            {
                "format_version": CHECKPOINT_FORMAT_VERSION,
                "iteration": iteration,
                "score": score,
                "payload": dict(payload),
            },
            content,
        )
        path = self._folder / checkpoint_name(iteration, score)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self._folder)
            write_atomically(path, content.getvalue())
        except OSError as error:
            raise self._not_written(path, error) from error
        self._prune(path, iteration)
        return path

    def entries(self) -> list[CheckpointEntry]:
        """Return the checkpoints, oldest first."""
        return list_checkpoints(self._folder)

    def latest(self) -> Path | None:
        """Return the newest checkpoint, or None."""
        entries = self.entries()
        return entries[-1].path if entries else None

    def best(self) -> Path | None:
        """Return the checkpoint with the highest score, the newer of equals, or None."""
        best = _best(self.entries())
        return best.path if best else None

    def load(self, path: Path | str) -> dict[str, Any]:
        """Read a checkpoint onto the CPU, after checking that it is whole.

        Raises:
            CheckpointError: If there is no such file, it is damaged, or of another format
                version. For a damaged one the message names the newest good one.
        """
        path = Path(path)
        try:
            content = read_checked(path)
        except CheckpointError as error:
            raise CheckpointError(f"{error}; {self._advice(path)}") from error.__cause__
        version = content.get("format_version")
        if version != CHECKPOINT_FORMAT_VERSION:
            raise CheckpointError(
                f"expected checkpoint format version {CHECKPOINT_FORMAT_VERSION}, got "
                f"{version!r} in {path}; use the version of rlightning that wrote it"
            )
        payload: dict[str, Any] = content["payload"]
        return payload

    def load_latest(self) -> dict[str, Any]:
        """Read the newest checkpoint; an older one is never taken in its place unasked.

        Raises:
            CheckpointError: If there is none, or the newest cannot be read.
        """
        path = self.latest()
        if path is None:
            raise CheckpointError(
                f"expected a checkpoint in {self._folder}, got none; the run ended before its "
                "first one: start it anew, or set a smaller engine.checkpoint_interval"
            )
        return self.load(path)

    def newest_good(self, other_than: Path | None = None) -> Path | None:
        """Return the newest checkpoint that can be read, or None."""
        for entry in reversed(self.entries()):
            if other_than is None or entry.path.name != other_than.name:
                try:
                    read_checked(entry.path)
                except CheckpointError:
                    continue
                return entry.path
        return None

    def _advice(self, path: Path) -> str:
        alternative = self.newest_good(other_than=path)
        if alternative is None:
            return "there is no other good checkpoint in its folder: start the run anew"
        return f"the newest good one is {alternative}: name it to go on from there"

    def _not_written(self, path: Path, error: OSError) -> CheckpointError:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or error
        last = self.latest()
        kept, go_on = "there is no earlier checkpoint", "start the run anew"
        if last is not None:
            kept, go_on = f"the last checkpoint {last.name} is kept", "resume the run"
        return CheckpointError(
            f"expected to write the checkpoint {path}, but {reason}; {kept}; "
            f"make room or set the permissions, then {go_on}"
        )

    def _prune(self, saved: Path, iteration: int) -> None:
        entries = self.entries()
        current = [e for e in entries if e.iteration < iteration or e.path == saved]
        kept = {entry.path for entry in current[-self._keep :]}
        best = _best(current)
        if best is not None:
            kept.add(best.path)
        for entry in entries:
            if entry.path not in kept:
                entry.path.unlink(missing_ok=True)


def _best(entries: list[CheckpointEntry]) -> CheckpointEntry | None:
    scored = [(entry.score, entry.iteration, entry) for entry in entries if entry.score is not None]
    return max(scored, key=lambda item: item[:2])[2] if scored else None
