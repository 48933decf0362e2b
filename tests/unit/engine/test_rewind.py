"""Taking a run's folder back to a checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.rewind import rewind
from rlightning.engine.run_folder import RunFolder
from rlightning.errors import RunFolderError
from rlightning.metrics.json_lines import json_line, read_metrics


@pytest.fixture
def folder(tmp_path):
    """A run of four iterations that has a checkpoint of each, and its final evaluation."""
    folder = RunFolder.create(tmp_path, "cartpole", datetime(2025, 1, 1, tzinfo=UTC))
    folder.metrics_path.write_text("".join(json_line({"iteration": n}) for n in (1, 2, 3, 4)))
    folder.evaluation_path.write_text("{}")
    store = CheckpointStore(folder.checkpoints_path, keep=4)
    for iteration in (1, 2, 3, 4):
        store.save({}, iteration)
    return folder


def iterations_of(folder):
    return [row["iteration"] for row in read_metrics(folder.metrics_path).rows]


def checkpoints_of(folder):
    return [entry.iteration for entry in CheckpointStore(folder.checkpoints_path).entries()]


def test_metrics_checkpoints_and_evaluation_of_later_iterations_go(folder):
    rewind(folder, 2)
    assert iterations_of(folder) == [1, 2]
    assert checkpoints_of(folder) == [1, 2]
    assert not folder.evaluation_path.exists()


def test_a_complete_run_keeps_everything(folder):
    rewind(folder, 4, keep_evaluation=True)
    assert iterations_of(folder) == [1, 2, 3, 4]
    assert checkpoints_of(folder) == [1, 2, 3, 4]
    assert folder.evaluation_path.exists()


def test_what_a_kill_left_half_written_goes(folder):
    leftovers = [folder.path / ".metrics.jsonl.partial", folder.checkpoints_path / ".x.pt.partial"]
    for leftover in leftovers:
        leftover.write_text("half")
    rewind(folder, 4)
    assert not any(leftover.exists() for leftover in leftovers)


@pytest.mark.parametrize("num_removed", [0, 1])
def test_broken_off_anywhere_the_metrics_reach_to_the_newest_checkpoint(
    folder, monkeypatch, num_removed
):
    """So that a kill in the middle leaves no gap between metrics and checkpoint."""
    removed: list[Path] = []

    def remove(path):
        if len(removed) == num_removed:
            raise PermissionError(13, "Permission denied", str(path))
        removed.append(path)
        true_unlink(path)

    true_unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", remove)
    with pytest.raises(RunFolderError, match="cannot change .*iteration-0000000"):
        rewind(folder, 2)
    monkeypatch.undo()
    assert iterations_of(folder)[-1] >= checkpoints_of(folder)[-1]
    rewind(folder, 2)
    assert iterations_of(folder) == checkpoints_of(folder) == [1, 2]
