from __future__ import annotations

import errno
import os

import pytest

from rlightning.engine.atomic_file import PARTIAL_SUFFIX, remove_leftovers, write_atomically


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_the_new_content_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new")

    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_after_a_failure_the_old_content_is_there_and_nothing_beside_it(
    tmp_path, monkeypatch, error
):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(descriptor):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_the_content_is_on_the_disk_before_the_name_changes(tmp_path, monkeypatch):
    path = tmp_path / "file"
    names_at_flush = []
    flush = os.fsync

    def spy(descriptor):
        names_at_flush.append(names(tmp_path))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    write_atomically(path, b"content")
    assert names_at_flush == [[f".file{PARTIAL_SUFFIX}"], ["file"]]


def test_leftovers_of_a_kill_are_removed_and_nothing_else(tmp_path):
    (tmp_path / f".file{PARTIAL_SUFFIX}").write_bytes(b"half")
    (tmp_path / "file").write_bytes(b"whole")
    remove_leftovers(tmp_path)

    assert names(tmp_path) == ["file"]
