from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlightning.errors import MetricsError
from rlightning.metrics.json_lines import JsonLines, read_metrics
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report


def test_a_line_can_be_read_by_others_as_soon_as_it_is_recorded(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with Recorder([JsonLines(path)]) as recorder:
        recorder.record(create_iteration_report(1))
        assert json.loads(path.read_text())["iteration"] == 1


def test_a_second_part_of_a_run_appends(tmp_path):
    path = tmp_path / "metrics.jsonl"
    for iteration in (1, 2):
        with Recorder([JsonLines(path)]) as recorder:
            recorder.record(create_iteration_report(iteration))

    assert [row["iteration"] for row in read_metrics(path).rows] == [1, 2]


def test_lines_that_a_kill_cut_in_half_are_counted_and_passed_over(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"iteration":1}\n[1]\n\n{"kl":1}\n{"iteration":2,"env_st')

    metrics = read_metrics(path)
    assert metrics.rows == ({"iteration": 1},)
    assert metrics.num_unreadable == 3


def test_a_file_that_is_not_there_has_no_rows(tmp_path):
    assert read_metrics(tmp_path / "none.jsonl").rows == ()


def test_a_full_disk_ends_the_run_with_an_error_that_names_the_file():
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, a device that is always full")
    recorder = Recorder([JsonLines(Path("/dev/full"))])
    recorder.start()
    with pytest.raises(MetricsError, match=r"/dev/full.*No space left on device"):
        recorder.record(create_iteration_report())
    with pytest.raises(MetricsError, match="to close, got"):
        recorder.close()
    recorder.close()


def test_recording_before_starting_is_refused(tmp_path):
    recorder = Recorder([JsonLines(tmp_path / "metrics.jsonl")])
    with pytest.raises(MetricsError, match=r"expected start\(\) before record\(\)"):
        recorder.record(create_iteration_report())
