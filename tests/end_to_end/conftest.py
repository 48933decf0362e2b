"""A runtime of threads; commands that must fail, and the rules that every failure keeps."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rlightning.cli.error_border import show_tracebacks
from rlightning.cli.main import app
from rlightning.runtime.in_process import InProcessRuntime

TINY = {
    "engine.rollout_length": "8",
    "engine.total_env_steps": "128",
    "engine.checkpoint_interval": "1",
    "engine.final_evaluation_episodes": "0",
    "env.num_envs": "2",
    "env.num_workers": "2",
    "algorithm.minibatch_size": "16",
    "algorithm.num_epochs": "1",
    "policy.hidden_sizes": "[4]",
    "logging.live": "off",
    "logging.tensorboard": "false",
}
"""Settings of a run of four iterations that takes a blink."""


@pytest.fixture
def runtime() -> Iterator[InProcessRuntime]:
    """Start a runtime of threads."""
    with InProcessRuntime("threads") as runtime:
        yield runtime


@dataclass(frozen=True)
class Failure:
    """How a command failed."""

    code: int
    message: str


@pytest.fixture
def tiny_words() -> Callable[[tuple[str, ...]], list[str]]:
    """Return what makes a training tiny; see `tiny_settings`."""
    return tiny_settings


def tiny_settings(words: tuple[str, ...]) -> list[str]:
    """Return words that make a training tiny, apart from those settings that they make already."""
    given = {word.partition("=")[0] for word in words}
    return [*words, *(f"{key}={value}" for key, value in TINY.items() if key not in given)]


def require_one_clear_error(message: str) -> None:
    """Fail unless a text is one error that says what was expected, what came and what to do."""
    assert message.startswith("error: ")
    assert message.count("error:") == 1
    assert "Traceback" not in message
    assert not message.startswith("error: unexpected")
    assert re.search("expect|did you mean", message)
    assert re.search(r"\bgot\b|\bbut\b|\bcannot\b|\bunknown\b|there is no|is damaged", message)
    assert re.search(r"[;:] \w", message)
    sentences = [part for part in re.split(r"; |\n", message.strip()) if len(part) > 20]
    assert len(sentences) == len(set(sentences)), "nothing is said twice"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which commands run, with its folder of runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def refused(folder: Path) -> Callable[..., Failure]:
    """Run a command that must end with one clear error and leave no thread."""

    def run(*words: str) -> Failure:
        threads = set(threading.enumerate())
        result = CliRunner().invoke(app, list(words))
        show_tracebacks(False)
        left = [thread.name for thread in threading.enumerate() if thread not in threads]
        assert not left, "expected no thread to be left"
        assert result.exit_code, result.stdout
        require_one_clear_error(result.stderr)
        return Failure(result.exit_code, result.stderr)

    return run


@pytest.fixture
def refused_training(refused: Callable[..., Failure]) -> Callable[..., Failure]:
    """Train with settings that must end with one clear error."""

    def run(*settings: str) -> Failure:
        return refused("train", "cartpole-ppo", *tiny_settings(settings))

    return run


@pytest.fixture
def failed_with_debug(folder: Path) -> Callable[..., str]:
    """Train with `--debug` until it fails and return what stands on stderr."""

    def run(*settings: str) -> str:
        result = CliRunner().invoke(
            app, ["train", "cartpole-ppo", "--debug", *tiny_settings(settings)]
        )
        show_tracebacks(False)
        assert result.exit_code
        return result.stderr

    return run


@pytest.fixture
def done(folder: Path) -> Callable[..., str]:
    """Run a command that must succeed and return what it printed."""

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, list(words))
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run


@pytest.fixture
def tiny_run(done: Callable[..., str], folder: Path) -> Path:
    """Train a tiny run to its end and return its folder."""
    done("train", "cartpole-ppo", *tiny_settings(()))
    (run,) = (folder / "runs").iterdir()
    return run


@pytest.fixture
def checkpoints(folder: Path) -> Callable[[], list[str]]:
    """Return the names of the checkpoints of the only run, oldest first."""

    def list_names() -> list[str]:
        return sorted(path.name for path in folder.glob("runs/*/checkpoints/*.pt"))

    return list_names
