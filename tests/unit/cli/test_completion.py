"""What the shell offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlightning.cli.completion import complete_run, complete_setting, complete_source


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_presets_are_offered_with_what_they_do() -> None:
    assert [name for name, _ in complete_source("cart")] == ["cartpole-ppo"]
    assert all(summary for _, summary in complete_source(""))


def test_yaml_files_of_the_folder_are_offered(tmp_path: Path) -> None:
    for name in ("walker.yaml", "walker.yml", "walker.txt"):
        (tmp_path / name).touch()
    assert [name for name, _ in complete_source("walk")] == ["walker.yaml", "walker.yml"]


def test_settings_are_offered() -> None:
    assert complete_setting("engine.total") == ["engine.total_env_steps="]
    assert "seed=" in complete_setting("")


def test_runs_are_offered(tmp_path: Path) -> None:
    for name in ("a-20260101-000000", "b-20260101-000000", "no-run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    for name in ("a-20260101-000000", "b-20260101-000000"):
        (tmp_path / "runs" / name / "config.yaml").touch()
    assert complete_run("") == ["latest", "a-20260101-000000", "b-20260101-000000"]
    assert complete_run("b") == ["b-20260101-000000"]
