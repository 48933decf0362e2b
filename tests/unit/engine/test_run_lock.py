"""One process at a time trains in a run's folder."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlightning.engine.run_lock import LOCK_NAME, RunLock
from rlightning.errors import RunFolderError

HOLD = """
import sys, time
from pathlib import Path
from rlightning.engine.run_lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def _num_open_files():
    return len(list(Path("/dev/fd").iterdir()))


def test_a_second_owner_is_refused_with_the_first_ones_process_id(tmp_path):
    with (
        RunLock(tmp_path),
        pytest.raises(RunFolderError, match=f"process {os.getpid()} is at work") as refusal,
    ):
        RunLock(tmp_path).__enter__()
    assert "wait until it ends" in str(refusal.value)


def test_after_the_first_owner_the_next_one_may_begin(tmp_path):
    with RunLock(tmp_path):
        pass
    with RunLock(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_a_refusal_leaves_the_lock_with_its_owner(tmp_path):
    with RunLock(tmp_path):
        for _ in range(2):
            with pytest.raises(RunFolderError):
                RunLock(tmp_path).__enter__()


def test_an_error_of_the_run_gives_the_lock_back(tmp_path):
    with pytest.raises(ZeroDivisionError), RunLock(tmp_path):
        raise ZeroDivisionError
    with RunLock(tmp_path):
        pass


def test_a_kill_gives_the_lock_back(tmp_path):
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        with pytest.raises(RunFolderError, match=f"process {owner.pid} is at work"):
            RunLock(tmp_path).__enter__()
    finally:
        owner.kill()
        owner.communicate()
    with RunLock(tmp_path):
        pass


def test_a_shorter_process_id_replaces_a_longer_one(tmp_path):
    (tmp_path / LOCK_NAME).write_text("123456789012\n")
    with RunLock(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_a_file_system_without_locks_stops_nobody(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with RunLock(tmp_path), RunLock(tmp_path):
        pass


def test_any_other_failure_of_the_lock_is_shown_and_leaves_no_open_file(tmp_path, monkeypatch):
    def fail(descriptor, operation):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", fail)
    num_open = _num_open_files()
    with pytest.raises(OSError, match="Input/output error"):
        RunLock(tmp_path).__enter__()
    assert _num_open_files() == num_open


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(RunFolderError, match="cannot write .*missing"):
        RunLock(tmp_path / "missing").__enter__()
