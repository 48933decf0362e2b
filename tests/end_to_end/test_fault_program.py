"""What the program prints that tries faults in number; no Ray is started."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, whose runs are invented: every second one counts a step too many."""
    monkeypatch.syspath_prepend(str(ROOT))
    faults = importlib.import_module("benchmarks.faults")
    series = importlib.import_module("benchmarks.fault_series")

    def run_short(name: str, num_runs: int, first_seed: int = 0) -> Any:
        found = series.FaultSeries(name, "something happens", is_full=False, seconds=7.0)
        for seed in range(first_seed, first_seed + num_runs):
            told = {"faults/restarts/env-1": 1, "faults/dropped_steps/env-1": 12}
            wrong = ["one step too many"] if seed % 2 else []
            found.add(series.FaultRun(seed, "3 ms after call 5", ["env-1"], wrong, told, 1.0))
        return found

    monkeypatch.setattr(faults, "run_short", run_short)
    return faults


def test_each_kind_is_one_line_and_what_is_wrong_is_told_with_its_seed(
    program: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "faults.json"
    words = ["--kind", "kill-replica", "--runs", "3", "--seed", "10", "--json", str(path)]
    assert program.main(words) == 1
    wrong, line = capsys.readouterr().out.splitlines()
    assert wrong == "  kill-replica, seed 11 (env-1, 3 ms after call 5): one step too many"
    assert line == (
        "kill-replica: 2 of 3 runs sound; 3 restarts, 36 dropped steps, 0 retried calls; 7 s"
    )
    (written,) = json.loads(path.read_text())
    assert [run["seed"] for run in written["runs"]] == [10, 11, 12]


def test_all_kinds_are_tried_and_sound_runs_end_well(
    program: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--runs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(program.FAULT_KINDS)
    assert all("1 of 1 runs sound" in line for line in lines)


def test_what_stays_behind_spoils_all_runs(program: ModuleType) -> None:
    series = program.run_short("kill-replica", 1)
    assert series.num_sound == 1
    series.left_behind.append("process 5")
    assert series.num_sound == 0
    assert str(series).endswith("; left behind: process 5")
