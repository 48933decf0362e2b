"""The program behind `make bars`: what it prints, and how it ends."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rlightning.engine.stored_evaluation import StoredEvaluation

ROOT = Path(__file__).resolve().parents[2]
REACHED = StoredEvaluation(
    episodes=100, mean=475.0, std=1.0, min=400.0, max=500.0, lengths=(475,) * 100, seed=7,
    deterministic=True, iteration=10, env_steps=150_000, seconds=9.0,
)  # fmt: skip


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, with three invented groups of bars: one met, one short, one that fails."""
    monkeypatch.syspath_prepend(str(ROOT))
    program = importlib.import_module("benchmarks.bars")

    def fail() -> Iterator[Any]:
        script = "raise SystemExit('no network')"
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        yield

    groups = {
        "good": lambda is_quick: iter([program.Bar("fast", "make good", "2.00 x", True)]),
        "bad": lambda is_quick: iter([program.Bar("slow", "make bad", "0.50 x", False)]),
        "failing": lambda is_quick: fail(),
    }
    monkeypatch.setattr(program, "GROUPS", groups)
    return program


def test_every_bar_is_a_line_with_its_figure_and_a_short_one_is_an_error(
    bars: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bars.main(["--json", str(tmp_path / "bars.json")]) == 1
    *_, first, second, third = capsys.readouterr().out.splitlines()
    assert first.split() == ["fast", "make", "good", "2.00", "x", "met"]
    assert second.split() == ["slow", "make", "bad", "0.50", "x", "short"]
    assert "failed with code 1: no network" in third, "what fails is short, and stops nothing"
    written = json.loads((tmp_path / "bars.json").read_text())["bars"]
    assert [bar["is_met"] for bar in written] == [True, False, False]


def test_bars_that_are_met_end_well(bars: ModuleType) -> None:
    assert bars.main(["good"]) == 0


def test_a_mistyped_bar_is_answered_with_the_nearest(
    bars: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bars.main(["godo"])
    assert "did you mean 'good'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "is_reached"),
    [
        ({}, True),
        ({"mean": 474.9}, False),
        ({"env_steps": 150_001}, False),
        ({"deterministic": False}, False),
        ({"episodes": 99}, False),
    ],
)
def test_a_return_counts_only_with_enough_episodes_and_within_its_steps(
    bars: ModuleType, change: dict[str, Any], is_reached: bool
) -> None:
    learning = importlib.import_module("benchmarks.learning")
    task = learning.LearningTask("cartpole-ppo", 475.0, 150_000, (0,))
    assert learning.is_reached(replace(REACHED, **change), task) == is_reached


def test_runs_end_with_a_whole_iteration_within_their_steps(bars: ModuleType) -> None:
    learning = importlib.import_module("benchmarks.learning")
    for task in learning.TASKS:
        longest = learning.whole_iterations(task.preset, task.max_env_steps)
        assert 0.9 * task.max_env_steps < longest <= task.max_env_steps


def test_faults_without_ray_are_short_and_name_the_extra(
    bars: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "benchmarks.raylets", raising=False)
    monkeypatch.setitem(
        bars.GROUPS, "faults", importlib.import_module("benchmarks.faults").fault_bars
    )
    assert bars.main(["faults", "--quick"]) == 1
    assert "pip install 'rlightning[ray]'" in capsys.readouterr().out
