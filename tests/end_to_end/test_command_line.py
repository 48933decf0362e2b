"""The command line as a person meets it: real processes, signals, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "rlightning.cli.main"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
SHORT = ["engine.total_env_steps=1_024", "engine.final_evaluation_episodes=3", "logging.live=lines"]
DEADLINE_SECONDS = 60.0


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
        check=False, timeout=DEADLINE_SECONDS,
    )  # fmt: skip


def _env_steps(folder: Path) -> list[int]:
    (metrics,) = folder.glob("runs/*/metrics.jsonl")
    return [int(json.loads(line)["env_steps"]) for line in metrics.read_text().splitlines()]


@pytest.fixture
def long_training(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A training that would go on for minutes, in its second iteration or later."""
    words = ["train", "cartpole-ppo", "engine.total_env_steps=10_000_000", "logging.live=lines"]
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + DEADLINE_SECONDS
    try:
        while not any(path.stat().st_size for path in tmp_path.glob("runs/*/metrics.jsonl")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "expected a first line of metrics"
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_run_is_trained_evaluated_reported_and_continued(tmp_path: Path) -> None:
    trained = _run(tmp_path, "train", "cartpole-ppo", *SHORT)
    assert trained.returncode == 0, trained.stderr
    assert "return over 3 episodes" in trained.stdout
    evaluated = _run(tmp_path, "evaluate", "latest", "--episodes", "2")
    assert "return over 2 episodes" in evaluated.stdout
    before = _env_steps(tmp_path)
    resumed = _run(tmp_path, "resume", "cartpole-ppo", "engine.total_env_steps=1_536")
    assert resumed.returncode == 0, resumed.stderr
    steps = _env_steps(tmp_path)
    assert steps[: len(before)] == before
    assert len(steps) > len(before)
    assert steps == sorted(steps)
    reported = _run(tmp_path, "report", "latest")
    assert reported.returncode == 0, reported.stderr
    assert list(tmp_path.glob("runs/*/report/report.html"))


@pytest.mark.slow
def test_an_interrupt_ends_with_a_checkpoint_and_can_be_continued(
    tmp_path: Path, long_training: subprocess.Popen[str]
) -> None:
    long_training.send_signal(signal.SIGINT)
    printed, errors = long_training.communicate(timeout=DEADLINE_SECONDS)
    assert long_training.returncode == 130, errors
    assert "Traceback" not in errors
    assert "go on with: rlightning resume" in printed
    done = _env_steps(tmp_path)[-1]
    resumed = _run(
        tmp_path, "resume", "latest", f"engine.total_env_steps={done + 300}",
        "engine.final_evaluation_episodes=0",
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    steps = _env_steps(tmp_path)
    assert done in steps
    assert steps[-1] >= done + 300


@pytest.mark.slow
def test_two_interrupts_end_at_once(long_training: subprocess.Popen[str]) -> None:
    long_training.send_signal(signal.SIGSTOP)
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        long_training.send_signal(interrupt)
    long_training.send_signal(signal.SIGCONT)
    _, errors = long_training.communicate(timeout=DEADLINE_SECONDS)
    assert long_training.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted at once" in errors


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["train", "cartpol-ppo"], 2, "did you mean 'cartpole-ppo'?"),
        (["train", "nowhere.yaml"], 2, "'nowhere.yaml', which does not exist"),
        (["train", "cartpole-ppo", "routing.tpye=1", "sede=2"], 2, "2 faults"),
        (["resume", "latest"], 3, "there is no run in 'runs'"),
    ],
)
def test_bad_input_is_one_clear_error(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    answer = _run(tmp_path, *words)
    assert answer.returncode == code
    assert answer.stderr.startswith("error: ")
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "code", "message"),
    [
        ("env.id=CartPol-v1", 1, "did you mean 'CartPole-v1'?"),
        ("routing.type=simpel", 2, "did you mean 'simple'?"),
        ("policy.network=mpl", 2, "did you mean 'mlp'?"),
    ],
)
def test_a_name_that_nothing_has_leaves_no_run_behind(
    tmp_path: Path, setting: str, code: int, message: str
) -> None:
    answer = _run(tmp_path, "train", "cartpole-ppo", setting)
    assert answer.returncode == code
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.glob("runs/*"))


def test_help_configuration_and_completion_load_no_torch(tmp_path: Path) -> None:
    script = (
        "import contextlib, sys\n"
        "from rlightning.cli.main import app\n"
        "for words in (['--help'], ['config'], ['config', 'acrobot-ppo']):\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        app(words)\n"
        "sys.exit(f\"loaded: {sorted({'torch', 'gymnasium', 'matplotlib'} & set(sys.modules))}\")\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.stderr.splitlines()[-1] == "loaded: []"


def test_the_shell_completes_presets(tmp_path: Path) -> None:
    answer = subprocess.run(
        [*COMMAND],
        cwd=tmp_path,
        env={
            **ENVIRONMENT,
            "_RLIGHTNING_COMPLETE": "complete_bash",
            "COMP_WORDS": "rlightning train cart",
            "COMP_CWORD": "2",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stdout.split() == ["cartpole-ppo"]
