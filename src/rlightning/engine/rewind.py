"""Taking a run's folder back to one of its checkpoints."""

from __future__ import annotations

from rlightning.engine.atomic_file import remove_leftovers
from rlightning.engine.checkpoint_name import list_checkpoints
from rlightning.engine.run_folder import RunFolder
from rlightning.errors import RunFolderError


def rewind(folder: RunFolder, iteration: int, *, keep_evaluation: bool = False) -> None:
    """Drop what the run did after an iteration, and what a kill left half written.

    Checkpoints go first, the newest before the others: wherever this is broken off, the metrics
    reach at least to the newest checkpoint that is left, so it can simply be done again.

    Args:
        folder: Of a run that nobody else writes.
        iteration: Of the checkpoint that the run goes on from.
        keep_evaluation: Whether the final evaluation still belongs to the final weights.

    Raises:
        RunFolderError: If a file cannot be removed or written.
    """
    try:
        for place in (folder.path, folder.checkpoints_path):
            remove_leftovers(place)
        for entry in reversed(list_checkpoints(folder.checkpoints_path)):
            if entry.iteration > iteration:
                entry.path.unlink()
        if not keep_evaluation:
            folder.evaluation_path.unlink(missing_ok=True)
    except OSError as error:
        raise RunFolderError(
            f"expected to write the run folder, but cannot change {error.filename}: "
            f"{error.strerror}; set the permissions, then resume the run"
        ) from error
    folder.cut_metrics_after(iteration)
