"""What the name of a checkpoint file tells: iteration and score."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"iteration-(?P<iteration>\d+)(?:_score-(?P<score>-?\d[-+.e\d]*))?\.pt")


@dataclass(frozen=True, slots=True)
class CheckpointEntry:
    """One checkpoint file.

    Attributes:
        path: Where it lies.
        iteration: Iteration after which the state was taken.
        score: Higher is better; None if it had none.
    """

    path: Path
    iteration: int
    score: float | None


def checkpoint_name(iteration: int, score: float | None) -> str:
    """Return the file name; the score in it reads back as exactly the same number."""
    scored = "" if score is None else f"_score-{float(score)!r}"
    return f"iteration-{iteration:08d}{scored}.pt"


def list_checkpoints(folder: Path) -> list[CheckpointEntry]:
    """Return the checkpoints of a folder by iteration; other files are passed over."""
    if not folder.is_dir():
        return []
    entries = []
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match:
            score = match["score"]
            entry = CheckpointEntry(path, int(match["iteration"]), float(score) if score else None)
            entries.append(entry)
    return sorted(entries, key=lambda entry: (entry.iteration, entry.path.name))
