"""The commands, with the training itself replaced: arguments in, text and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rlightning
from rlightning.cli.error_border import show_tracebacks
from rlightning.cli.main import app
from rlightning.config.loading import load_config
from rlightning.config.preset_library import preset_names

EVALUATION = SimpleNamespace(
    mean_return=451.5, std_return=20.25, min_return=400.0, max_return=500.0, mean_length=451.5,
    returns=(400.0, 500.0), num_episodes=100,
)  # fmt: skip


class TrainingRecorder:
    """Stands for the training: remembers the calls and answers what it was told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, Any]] = []
        self.was_interrupted = False

    def train(self, config: Any, overrides: Any = ()) -> SimpleNamespace:
        return self._answer("train", config, overrides)

    def resume(self, run: Any, overrides: Any = (), *, root: Any) -> SimpleNamespace:
        return self._answer("resume", (run, root), overrides)

    def evaluate(self, run: Any, **options: Any) -> SimpleNamespace:
        self.calls.append(("evaluate", run, options))
        return EVALUATION

    def _answer(self, name: str, subject: Any, overrides: Any) -> SimpleNamespace:
        self.calls.append((name, subject, overrides))
        return SimpleNamespace(
            run_folder=Path("runs/a"), env_steps=100_096, iterations=391,
            was_interrupted=self.was_interrupted, evaluation=EVALUATION,
        )  # fmt: skip


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> TrainingRecorder:
    recorder = TrainingRecorder()
    for name in ("train", "resume", "evaluate"):
        monkeypatch.setitem(vars(rlightning), name, getattr(recorder, name))
    return recorder


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "cartpole-ppo-20260101-000000"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("preset: cartpole-ppo\n")
    return folder


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    show_tracebacks(False)
    return result


def test_train_loads_the_configuration_and_tells_the_outcome(training: TrainingRecorder) -> None:
    result = _run("train", "cartpole-ppo", "seed=3")
    assert result.exit_code == 0
    assert training.calls == [("train", load_config("cartpole-ppo", ["seed=3"]), ())]
    assert "finished: 100 096 steps, 391 iterations" in result.stdout
    assert "100 episodes: 451.50 ± 20.25 (from 400.00 to 500.00)" in result.stdout
    assert "rlightning report runs/a" in result.stdout


def test_an_interrupted_training_says_how_to_go_on(training: TrainingRecorder) -> None:
    training.was_interrupted = True
    result = _run("train", "cartpole-ppo")
    assert result.exit_code == 130
    assert "go on with: rlightning resume runs/a" in result.stdout


def test_a_faulty_configuration_starts_no_training(training: TrainingRecorder) -> None:
    result = _run("train", "cartpole-ppo", "routing.tpye=simple", "seed=-1")
    assert result.exit_code == 2
    assert "2 faults" in result.stderr
    assert "routing.tpye: unknown key (did you mean 'type'?)" in result.stderr
    assert "Traceback" not in result.stderr
    assert training.calls == []


@pytest.mark.parametrize(
    "arguments",
    [("--debug", "train", "x"), ("train", "--debug", "x"), ("train", "x", "--debug")],
)
def test_debug_may_stand_anywhere(arguments: tuple[str, ...]) -> None:
    result = _run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_resume_passes_run_settings_and_folder_on(training: TrainingRecorder) -> None:
    assert _run("resume", "latest", "engine.total_env_steps=5").exit_code == 0
    assert _run("resume", "walker", "--folder", "elsewhere").exit_code == 0
    assert training.calls == [
        ("resume", ("latest", Path("runs")), ["engine.total_env_steps=5"]),
        ("resume", ("walker", Path("elsewhere")), []),
    ]


@pytest.mark.parametrize("command", ["resume", "evaluate", "report"])
def test_a_run_that_is_not_there_is_refused(run_folder: Path, command: str) -> None:
    result = _run(command, "cartpol-ppo")
    assert result.exit_code == 3
    assert "did you mean 'cartpole-ppo'?" in result.stderr


def test_evaluate_passes_its_options_on(training: TrainingRecorder, run_folder: Path) -> None:
    result = _run("evaluate", "latest", "--episodes", "7", "--video", "--stochastic", "--seed", "5")
    assert result.exit_code == 0
    options = {
        "episodes": 7, "deterministic": False, "seed": 5, "root": Path("runs"),
        "video_folder": Path("runs") / run_folder.name / "videos",
    }  # fmt: skip
    assert training.calls == [("evaluate", "latest", options)]
    assert f"videos: {options['video_folder']}" in result.stdout


def test_evaluate_plays_100_episodes_without_a_video_by_default(
    training: TrainingRecorder,
) -> None:
    _run("evaluate", "latest")
    options = {"episodes": 100, "deterministic": True, "seed": None, "video_folder": None}
    assert training.calls == [("evaluate", "latest", options | {"root": Path("runs")})]


def test_config_lists_the_presets() -> None:
    result = _run("config")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == preset_names()


def test_config_prints_what_can_be_trained(tmp_path: Path) -> None:
    result = _run("config", "acrobot-ppo", "seed=9")
    (tmp_path / "run.yaml").write_text(result.stdout)
    assert load_config(tmp_path / "run.yaml") == load_config("acrobot-ppo", ["seed=9"])


def test_config_prints_the_schema_and_the_reference() -> None:
    assert "properties" in json.loads(_run("config", "--schema").stdout)
    assert "| `engine.total_env_steps` |" in _run("config", "--reference").stdout


def test_the_version_is_printed() -> None:
    assert _run("--version").stdout == f"rlightning {rlightning.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("trian",), "No such command 'trian'"),
        (("train",), "Missing argument"),
        (("train", "cartpole-ppo", "--sede", "3"), "No such option"),
        (("evaluate", "latest", "--episodes", "0"), "episodes"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], message: str) -> None:
    result = _run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_help_lists_commands_and_exit_codes() -> None:
    text = _run("--help").stdout
    for word in ("train", "resume", "evaluate", "config", "report", "130", "70"):
        assert word in text


@pytest.mark.parametrize("command", ["train", "resume", "evaluate", "config", "report"])
def test_every_command_has_a_help_page(command: str) -> None:
    result = _run(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout
