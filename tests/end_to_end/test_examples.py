"""Every example runs as it stands, is short, and leaves its run behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
MAX_LINES = 60
THAT_TRAIN = sorted(path for path in EXAMPLES.glob("*.py") if path.stem != "deploy_policy")


def _run(folder: Path, *words: str | Path) -> str:
    answer = subprocess.run(
        [sys.executable, "-W", "error", *map(str, words)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()[-1]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_LINES


@pytest.mark.slow
@pytest.mark.parametrize("path", THAT_TRAIN, ids=lambda path: path.stem)
def test_an_example_trains(path: Path, tmp_path: Path) -> None:
    last_line = _run(tmp_path, path)
    assert re.search(r"mean return -?\d|the policy answers [01]$", last_line)
    assert len(list((tmp_path / "runs").glob("*/checkpoints/*.pt"))) > 0


@pytest.mark.slow
def test_a_trained_policy_is_deployed(tmp_path: Path) -> None:
    _run(tmp_path, EXAMPLES / "train_in_five_lines.py")
    assert re.fullmatch(r"return \d+\.0", _run(tmp_path, EXAMPLES / "deploy_policy.py"))


@pytest.mark.slow
def test_an_own_algorithm_and_environment_are_named_on_the_command_line(tmp_path: Path) -> None:
    for name in ("own_algorithm.py", "own_environment.py", "own_network.py"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    settings = [
        "algorithm.name=own_algorithm:PolicyGradient",
        "algorithm.learning_rate=0.02",
        "policy.network=own_network:create_residual_network",
        "env.id=own_environment:Corridor-v0",
        "env.kwargs.length=5",
        "engine.total_env_steps=1_000",
        "engine.final_evaluation_episodes=5",
        "logging.live=off",
    ]
    command = ["-m", "rlightning.cli.main"]
    assert "rlightning resume" in _run(tmp_path, *command, "train", "cartpole-ppo", *settings)
    assert "return over 3 episodes" in _run(
        tmp_path, *command, "evaluate", "latest", "--episodes", "3"
    )
