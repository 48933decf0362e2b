from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from rlightning.testing.ray_leftovers import HOME_VARIABLE, MARK, RayLeftovers, ray_home

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def leftovers(tmp_path: Path) -> RayLeftovers:
    return RayLeftovers(uuid.uuid4().hex, tmp_path)


@needs_proc
def test_a_process_that_inherited_the_mark_is_found_and_ended(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    sleeper = [sys.executable, "-c", "input()"]
    environment = {**os.environ, MARK: mark}
    with subprocess.Popen(sleeper, env=environment, stdin=subprocess.PIPE) as process:
        leftovers = RayLeftovers(mark, tmp_path)
        with pytest.raises(AssertionError, match=rf"(?s)process {process.pid}: .*stop what"):
            leftovers.require_none(grace_seconds=0.2)
        assert process.wait() != 0
    leftovers.require_none(grace_seconds=30.0)


def test_a_folder_of_a_session_is_found_but_not_the_link_to_it(
    leftovers: RayLeftovers, tmp_path: Path
) -> None:
    folder = tmp_path / "ray" / "session_2030-01-01_00-00-00_000000_17"
    folder.mkdir(parents=True)
    (tmp_path / "ray" / "session_latest").symlink_to(folder)
    assert folders(leftovers) == [f"folder {folder}"]
    leftovers.remove_folders_of(7)
    assert folder.is_dir(), "another process started it"
    leftovers.remove_folders_of(17)
    assert folders(leftovers) == []


def folders(leftovers: RayLeftovers) -> list[str]:
    """Leave out shared memory, which other tests may have for a moment."""
    return [line for line in leftovers.found() if line.startswith("folder")]


def test_the_folder_of_rays_that_are_started_is_there_only_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, "elsewhere")
    with ray_home() as home:
        assert os.environ[HOME_VARIABLE] == str(home)
        (home / "ray").mkdir()
    assert os.environ[HOME_VARIABLE] == "elsewhere"
    assert not home.exists()
    monkeypatch.delenv(HOME_VARIABLE)
    with ray_home():
        assert HOME_VARIABLE in os.environ
    assert HOME_VARIABLE not in os.environ
