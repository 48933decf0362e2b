from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_reference import find_run
from rlightning.engine.run_state import PARTS_OF_A_STATE
from rlightning.errors import CheckpointError, RunFolderError

STATES = [dict.fromkeys(PARTS_OF_A_STATE, number) for number in (1, 2)]


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    folder = RunFolder.create(tmp_path, "boat", datetime(2026, 1, 2, tzinfo=UTC))
    folder.write_config("name: boat\n")
    return folder


def test_a_run_means_its_newest_checkpoint(folder, tmp_path) -> None:
    store = CheckpointStore(folder.checkpoints_path)
    store.save(STATES[0], 1)
    store.save(STATES[1], 2)
    for reference in (folder.path, "latest", "boat", folder.path.name):
        found = find_run(reference, tmp_path)
        assert found.folder.path == folder.path
        assert found.load_checkpoint() == STATES[1]


def test_a_checkpoint_means_itself(folder, tmp_path) -> None:
    store = CheckpointStore(folder.checkpoints_path)
    first = store.save(STATES[0], 1)
    store.save(STATES[1], 2)
    found = find_run(first, tmp_path)
    assert found.folder.path == folder.path
    assert found.load_checkpoint() == STATES[0]


def test_a_checkpoint_that_is_not_there_is_refused(folder, tmp_path) -> None:
    with pytest.raises(RunFolderError, match="gone.pt, which is no file"):
        find_run(folder.checkpoints_path / "gone.pt", tmp_path)


def test_a_run_without_checkpoints_has_nothing_to_load(folder, tmp_path) -> None:
    with pytest.raises(CheckpointError, match="got none"):
        find_run("latest", tmp_path).load_checkpoint()


def test_a_checkpoint_that_holds_no_run_is_refused(folder, tmp_path) -> None:
    CheckpointStore(folder.checkpoints_path).save({"kinds": [], "progress": {}}, 1)
    with pytest.raises(CheckpointError, match="got none of learner, environments, recorder"):
        find_run("latest", tmp_path).load_checkpoint()
