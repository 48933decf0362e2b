"""What a person may name where a run is wanted: a run, or one checkpoint of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_state import PARTS_OF_A_STATE
from rlightning.errors import CheckpointError, RunFolderError

DEFAULT_ROOT = "runs"


@dataclass(frozen=True, slots=True)
class RunReference:
    """A run and, if one was named, one of its checkpoints.

    Attributes:
        folder: Of the run.
        checkpoint_path: The checkpoint that was named; None means the newest.
    """

    folder: RunFolder
    checkpoint_path: Path | None = None

    def load_checkpoint(self) -> dict[str, Any]:
        """Read the named checkpoint, or the newest one.

        Raises:
            CheckpointError: If there is none, it is damaged, or it holds no run.
        """
        store = CheckpointStore(self.folder.checkpoints_path)
        path = self.checkpoint_path
        state = store.load_latest() if path is None else store.load(path)
        missing = [name for name in PARTS_OF_A_STATE if name not in state]
        if missing:
            raise CheckpointError(
                f"expected the state of a run in {path or store.latest()}, got none of "
                f"{', '.join(missing)}; take a checkpoint that a training has written"
            )
        return state


def find_run(reference: str | Path, root: str | Path = DEFAULT_ROOT) -> RunReference:
    """Find a run by its path, its name, ``latest``, or the path of one of its checkpoints.

    Raises:
        RunFolderError: If there is no such run.
    """
    path = Path(reference)
    if path.suffix != ".pt":
        return RunReference(RunFolder.open(reference, root))
    if not path.is_file():
        raise RunFolderError(
            f"expected a checkpoint, got {path}, which is no file; "
            "name a run for its newest checkpoint"
        )
    return RunReference(RunFolder.open(path.parent.parent, root), path)
