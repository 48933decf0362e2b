from __future__ import annotations

import errno
import os
import random
import resource

import numpy as np
import pytest
import torch

from rlightning.engine.atomic_file import PARTIAL_SUFFIX
from rlightning.engine.checkpoint import CHECKPOINT_FORMAT_VERSION, CheckpointStore
from rlightning.errors import CheckpointError


def payload(iteration: int) -> dict:
    return {"iteration": iteration, "weights": torch.full((100,), float(iteration))}


def iterations(store: CheckpointStore) -> list[int]:
    return [entry.iteration for entry in store.entries()]


def damage(path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_what_was_saved_is_what_is_loaded(tmp_path):
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.ones(3)).sum().backward()
    optimizer.step()
    saved = {
        "policy": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "numpy generator": np.random.default_rng(7).bit_generator.state,
        "torch generator": torch.get_rng_state(),
        "python generator": random.Random(7).getstate(),
        "plain": [1, 2.5, "text", None, True, (1, 2), {3: "x"}],
    }
    store = CheckpointStore(tmp_path)
    store.save(saved, 1)
    loaded = store.load_latest()

    assert loaded["numpy generator"] == saved["numpy generator"]
    assert loaded["python generator"] == saved["python generator"]
    assert loaded["plain"] == saved["plain"]
    torch.testing.assert_close(dict(loaded["policy"]), dict(saved["policy"]), rtol=0, atol=0)
    network.load_state_dict(loaded["policy"])
    optimizer.load_state_dict(loaded["optimizer"])


def test_a_checkpoint_is_an_ordinary_file_that_loads_without_running_code(tmp_path):
    path = CheckpointStore(tmp_path).save(payload(3), 3, score=1.5)

    content = torch.load(path, weights_only=True)
    assert content["format_version"] == CHECKPOINT_FORMAT_VERSION
    assert content["iteration"] == 3
    assert content["score"] == 1.5


def test_the_newest_and_the_best_are_kept(tmp_path):
    store = CheckpointStore(tmp_path, keep=2)
    for iteration, score in [(1, 0.5), (2, 9.0), (3, 1.0), (4, 2.0), (5, None)]:
        store.save(payload(iteration), iteration, score)

    assert iterations(store) == [2, 4, 5]
    assert store.load(store.best())["iteration"] == 2
    assert store.load(store.latest())["iteration"] == 5


def test_which_one_is_best_is_known_after_a_restart(tmp_path):
    CheckpointStore(tmp_path, keep=1).save(payload(1), 1, score=1e-17)
    CheckpointStore(tmp_path, keep=1).save(payload(2), 2, score=-3.25)

    store = CheckpointStore(tmp_path, keep=1)
    assert iterations(store) == [1, 2]
    assert store.load(store.best())["iteration"] == 1


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None])
def test_a_score_that_is_no_number_never_becomes_the_best(tmp_path, score):
    store = CheckpointStore(tmp_path)
    store.save(payload(1), 1, score)
    assert store.best() is None

    store.save(payload(2), 2, -100.0)
    assert store.load(store.best())["iteration"] == 2


def test_of_equal_scores_the_newer_is_the_best(tmp_path):
    store = CheckpointStore(tmp_path, keep=1)
    for iteration in (1, 2):
        store.save(payload(iteration), iteration, 5.0)

    assert iterations(store) == [2]


def test_saving_after_going_back_removes_the_course_that_was_left(tmp_path):
    store = CheckpointStore(tmp_path, keep=3)
    for iteration in (1, 2, 3, 4):
        store.save(payload(iteration), iteration, float(iteration))
    store.save(payload(3), 3, 0.25)

    assert iterations(store) == [2, 3]
    assert store.load_latest()["iteration"] == 3
    assert store.best().name.endswith("score-2.0.pt")


def test_old_ones_are_removed_only_when_the_new_one_is_safe(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path, keep=1)
    first = store.save(payload(1), 1)
    seen_at_flush = []
    flush = os.fsync

    def spy(descriptor):
        seen_at_flush.append(first.exists())
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    store.save(payload(2), 2)
    assert seen_at_flush == [True, True]
    assert not first.exists()


def test_leftovers_of_a_kill_are_no_checkpoints_and_go_at_the_next_save(tmp_path):
    leftover = tmp_path / f".iteration-00000002.pt{PARTIAL_SUFFIX}"
    store = CheckpointStore(tmp_path)
    store.save(payload(1), 1)
    leftover.write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")

    assert iterations(store) == [1]
    store.save(payload(2), 2)
    assert not leftover.exists()
    assert (tmp_path / "notes.txt").exists()


def test_a_full_disk_is_one_clear_error_and_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path, keep=1)
    store.save(payload(1), 1)

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(CheckpointError, match=r"disk is full; the last checkpoint .*01\.pt"):
            store.save(payload(2), 2)
    assert store.load_latest()["iteration"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["iteration-00000001.pt"]


def test_a_real_limit_of_the_system_on_file_sizes_keeps_the_last_checkpoint(tmp_path):
    store = CheckpointStore(tmp_path, keep=1)
    store.save(payload(1), 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(CheckpointError, match="File too large"):
            store.save(payload(2), 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert store.load_latest()["iteration"] == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CheckpointError, match="there is no earlier checkpoint; make room"):
        CheckpointStore(tmp_path / "file" / "checkpoints").save(payload(1), 1)


def test_a_damaged_newest_is_never_replaced_in_silence_but_an_older_one_is_named(tmp_path):
    store = CheckpointStore(tmp_path)
    paths = [store.save(payload(iteration), iteration) for iteration in (1, 2, 3)]
    damage(paths[2])
    damage(paths[1])

    with pytest.raises(CheckpointError) as caught:
        store.load_latest()
    assert f"{paths[2]} is damaged" in str(caught.value)
    assert f"the newest good one is {paths[0]}" in str(caught.value)
    assert store.load(paths[0])["iteration"] == 1


def test_a_damaged_only_one_leaves_nothing_to_go_on_from(tmp_path):
    store = CheckpointStore(tmp_path)
    damage(store.save(payload(1), 1))

    with pytest.raises(CheckpointError, match="no other good checkpoint"):
        store.load_latest()


def test_a_missing_checkpoint_is_answered_with_the_newest_good_one(tmp_path):
    store = CheckpointStore(tmp_path)
    good = store.save(payload(1), 1)

    with pytest.raises(CheckpointError, match=f"cannot read .*the newest good one is {good}"):
        store.load(tmp_path / "iteration-00000009.pt")


def test_an_empty_folder_says_that_there_is_no_checkpoint_yet(tmp_path):
    store = CheckpointStore(tmp_path / "checkpoints")

    assert store.latest() is None
    with pytest.raises(CheckpointError, match=r"expected a checkpoint in .*, got none"):
        store.load_latest()


def test_another_format_version_is_refused_by_number(tmp_path):
    path = tmp_path / "iteration-00000001.pt"
    torch.save({"format_version": 99, "iteration": 1, "score": None, "payload": {}}, path)

    with pytest.raises(CheckpointError, match="format version 2, got 99"):
        CheckpointStore(tmp_path).load(path)


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "iteration-00000001.pt"
    torch.save([1, 2], path)

    with pytest.raises(CheckpointError, match="holds something else"):
        CheckpointStore(tmp_path).load(path)


class RunsCodeWhenLoaded:
    def __reduce__(self):
        return (os.system, ("echo this must never run",))


def test_a_file_that_would_run_code_is_refused(tmp_path):
    path = tmp_path / "iteration-00000001.pt"
    torch.save({"format_version": 1, "payload": {"x": RunsCodeWhenLoaded()}}, path)

    with pytest.raises(CheckpointError, match="is damaged"):
        CheckpointStore(tmp_path).load(path)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (np.zeros(2), r"ndarray at payload\['a'\]\[1\]"),
        (np.float64(1.0), r"float64 at payload\['a'\]\[1\]"),
        (RunsCodeWhenLoaded(), r"RunsCodeWhenLoaded at payload\['a'\]\[1\]"),
        ({(1, 2): 3}, r"tuple at a key of payload\['a'\]\[1\]"),
    ],
)
def test_what_could_not_be_loaded_again_is_refused_before_it_is_saved(tmp_path, value, where):
    with pytest.raises(CheckpointError, match=where):
        CheckpointStore(tmp_path).save({"a": [1, value]}, 1)
    assert list(tmp_path.iterdir()) == []


def test_keeping_none_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="at least 1"):
        CheckpointStore(tmp_path, keep=0)
