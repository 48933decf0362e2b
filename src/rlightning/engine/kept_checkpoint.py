"""Tells with an error how the run that it ended can go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlightning.engine.checkpoint_name import list_checkpoints
from rlightning.engine.run_folder import RunFolder

GO_ON = "go on from the last checkpoint with: rlightning resume "


def advice_to_go_on(folder: RunFolder) -> str | None:
    """Return how to go on with a run, or None if it has no checkpoint."""
    return f"{GO_ON}{folder.path}" if list_checkpoints(folder.checkpoints_path) else None


@contextmanager
def notes_kept_checkpoint(folder: RunFolder) -> Iterator[None]:
    """Add to every error, as a note, how to go on with the run."""
    try:
        yield
    except BaseException as error:
        advice = advice_to_go_on(folder)
        if advice is not None:
            error.add_note(advice)
        raise
