from __future__ import annotations

import errno
import os
from datetime import UTC, datetime, timedelta

import pytest

from rlightning.engine.run_folder import RunFolder
from rlightning.errors import RunFolderError
from rlightning.metrics.json_lines import json_line, read_metrics

NOW = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)


def create(root, name="cartpole", seconds=0):
    folder = RunFolder.create(root, name, NOW + timedelta(seconds=seconds))
    folder.write_config(f"name: {name}\n")
    return folder


def write_metrics(folder, iterations, tail=""):
    lines = "".join(json_line({"iteration": iteration}) for iteration in iterations)
    folder.metrics_path.write_text(lines + tail)


def iterations_of(folder):
    return [row["iteration"] for row in read_metrics(folder.metrics_path).rows]


def test_a_run_lies_in_a_folder_of_its_name_and_time(tmp_path):
    folder = create(tmp_path / "runs")

    assert folder.path == tmp_path / "runs" / "cartpole-20250304-050607"
    assert folder.checkpoints_path.is_dir()
    assert folder.read_config() == "name: cartpole\n"


def test_two_runs_of_one_second_get_two_folders(tmp_path):
    names = [create(tmp_path).path.name for _ in range(3)]

    assert names == [
        "cartpole-20250304-050607",
        "cartpole-20250304-050607-2",
        "cartpole-20250304-050607-3",
    ]


@pytest.mark.parametrize(
    ("name", "folder_name"),
    [
        ("ALE/Pong-v5", "ALE_Pong-v5-20250304-050607"),
        ("../../etc", "_.._etc-20250304-050607"),
        ("..", "run-20250304-050607"),
    ],
)
def test_no_name_leads_out_of_the_root(tmp_path, name, folder_name):
    assert create(tmp_path, name).path == tmp_path / folder_name


def test_the_latest_run_is_latest_by_its_time_not_by_its_last_change(tmp_path):
    new = create(tmp_path, "a", seconds=60)
    old = create(tmp_path, "b")
    (old.path / "report").mkdir()
    os.utime(new.path, (0, 0))

    assert RunFolder.open("latest", tmp_path) == new


def test_the_tenth_run_of_one_second_is_later_than_the_ninth(tmp_path):
    folders = [create(tmp_path) for _ in range(10)]

    assert RunFolder.open("latest", tmp_path) == folders[-1]


def test_a_run_is_found_by_path_folder_name_and_run_name(tmp_path):
    first, second = create(tmp_path, "cartpole"), create(tmp_path, "cartpole", seconds=1)
    create(tmp_path, "pendulum", seconds=2)

    assert RunFolder.open(first.path).path == first.path
    assert RunFolder.open(str(first.path), tmp_path).path == first.path
    assert RunFolder.open(first.path.name, tmp_path) == first
    assert RunFolder.open("cartpole", tmp_path) == second


def test_a_folder_without_settings_is_no_run(tmp_path):
    whole = create(tmp_path)
    RunFolder.create(tmp_path, "cartpole", NOW + timedelta(seconds=9))

    assert RunFolder.open("latest", tmp_path) == whole
    with pytest.raises(RunFolderError, match=r"has no config\.yaml"):
        RunFolder.open("cartpole-20250304-050616", tmp_path)


def test_a_mistyped_name_is_answered_with_the_nearest(tmp_path):
    create(tmp_path, "cartpole")

    with pytest.raises(RunFolderError, match="did you mean 'cartpole'"):
        RunFolder.open("cartpoel", tmp_path)
    with pytest.raises(RunFolderError, match="the newest is 'cartpole-20250304-050607'"):
        RunFolder.open("something else", tmp_path)


@pytest.mark.parametrize("root", ["", "missing"])
def test_without_any_run_the_error_says_so(tmp_path, root):
    with pytest.raises(RunFolderError, match="there is no run in"):
        RunFolder.open("latest", tmp_path / root)


def test_a_root_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(RunFolderError, match=r"cannot write .*file.*logging\.folder=PATH"):
        RunFolder.create(tmp_path / "file" / "runs", "cartpole", NOW)


def test_a_file_in_the_way_is_one_clear_error(tmp_path):
    (tmp_path / "cartpole-20250304-050607").write_text("")

    with pytest.raises(RunFolderError, match="a file of that name is in the way"):
        RunFolder.create(tmp_path, "cartpole", NOW)


def test_a_full_disk_leaves_the_settings_as_they_were(tmp_path, monkeypatch):
    folder = create(tmp_path)

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunFolderError, match="No space left on device"):
        folder.write_config("name: other\n")
    assert folder.read_config() == "name: cartpole\n"


def test_settings_that_cannot_be_read_are_one_clear_error(tmp_path):
    folder = create(tmp_path)
    folder.config_path.write_bytes(b"\xff\xfe")
    with pytest.raises(RunFolderError, match="expected the settings of a run"):
        folder.read_config()


def test_metrics_are_cut_after_the_checkpoint(tmp_path):
    folder = create(tmp_path)
    write_metrics(folder, [1, 2, 3, 4])

    assert folder.cut_metrics_after(2) == 2
    assert iterations_of(folder) == [1, 2]
    assert folder.cut_metrics_after(2) == 0


def test_a_line_that_a_kill_cut_in_half_goes_too(tmp_path):
    folder = create(tmp_path)
    write_metrics(folder, [1, 2], tail='{"iteration":3,"env_')

    assert folder.cut_metrics_after(2) == 1
    with folder.metrics_path.open("a") as file:
        file.write(json_line({"iteration": 3}))
    assert iterations_of(folder) == [1, 2, 3]


def test_a_last_line_without_its_line_break_is_completed(tmp_path):
    folder = create(tmp_path)
    folder.metrics_path.write_text('{"iteration":1}')
    folder.cut_metrics_after(1)
    with folder.metrics_path.open("a") as file:
        file.write(json_line({"iteration": 2}))

    assert iterations_of(folder) == [1, 2]


def test_a_failed_cut_keeps_the_metrics(tmp_path, monkeypatch):
    folder = create(tmp_path)
    write_metrics(folder, [1, 2])

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunFolderError, match="No space left"):
        folder.cut_metrics_after(1)
    assert iterations_of(folder) == [1, 2]


def test_a_run_without_metrics_has_nothing_to_cut(tmp_path):
    assert create(tmp_path).cut_metrics_after(5) == 0
