"""Faults that users of other systems reported, against whole runs."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rlightning
from rlightning.errors import EnvironmentFailedError, RLightningError

SMALL = {
    "policy": {"hidden_sizes": [4]},
    "engine": {
        "rollout_length": 4,
        "total_env_steps": 400,
        "checkpoint_interval": 1,
        "final_evaluation_episodes": 0,
    },
    "algorithm": {"minibatch_size": 8, "num_epochs": 1},
    "logging": {"live": "off", "tensorboard": False},
}
COUNTING = "rlightning.testing.environments:Counting-v0"
HANGING = "rlightning.testing.environments:Hanging-v0"
FINITE = "rlightning.testing.environments:Finite-v0"


def train(folder: Path, env: object, *settings: str) -> rlightning.RunResult:
    config = {**SMALL, "env": env}
    return rlightning.train(config, [*settings, f"logging.folder={folder}"])


def run_program(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rlightning.cli.main", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_B45_one_environment_that_stops_ends_the_run_with_its_name_and_no_others(
    tmp_path: Path,
) -> None:
    """Of four workers env-2 stops at its step 7; the limit of a step is one second."""
    running = {"id": COUNTING, "num_workers": 2, "num_envs": 2, "timeout_seconds": 1.0}
    stopped = {"id": HANGING, "num_envs": 2, "kwargs": {"at_step": 7, "seconds": 20.0}}
    last = {**running, "num_workers": 1}
    started_at = time.monotonic()
    with pytest.raises(RLightningError) as caught:
        train(
            tmp_path,
            [running, {**stopped, "timeout_seconds": 1.0}, last],
            "cluster.mode=threads",
        )
    assert time.monotonic() - started_at < 15.0
    message = str(caught.value)
    assert "env-2" in message
    assert all(name not in message for name in ("env-0", "env-1", "env-3")), "nobody else is blamed"


def test_B47_with_threads_a_hanging_environment_is_named_with_its_step_and_last_beat(
    tmp_path: Path,
) -> None:
    env = {
        "id": HANGING,
        "num_workers": 2,
        "num_envs": 2,
        "timeout_seconds": 1.0,
        "kwargs": {"at_step": 7, "seconds": 20.0},
    }
    with pytest.raises(RLightningError) as caught:
        train(tmp_path, env, "cluster.mode=threads")
    message = str(caught.value)
    assert f"environment '{HANGING}' (env-0), step 7" in message
    assert "last beat" in message
    assert "step since" in message, "who has what in flight and since when"


def test_B47_inline_a_hanging_environment_ends_the_process_with_its_name_and_step(
    tmp_path: Path,
) -> None:
    settings = [
        f"env.id={HANGING}",
        "env.num_workers=1",
        "env.kwargs.at_step=7",
        "env.timeout_seconds=1",
        "engine.total_env_steps=1_000",
        "logging.live=lines",
        "algorithm.minibatch_size=8",
    ]
    result = run_program(["train", "cartpole-ppo", *settings], tmp_path)
    assert result.returncode == 70, result.stderr
    assert "worker 'env-0' hangs in step()" in result.stderr
    assert f"environment '{HANGING}' (env-0), step 7" in result.stderr


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_B46_a_finished_run_leaves_no_thread(tmp_path: Path, mode: str) -> None:
    before = set(threading.enumerate())
    train(tmp_path, {"id": COUNTING, "num_workers": 2, "num_envs": 2}, f"cluster.mode={mode}")
    assert set(threading.enumerate()) - before == set()


def test_B46_the_command_with_threads_exits_with_code_0(tmp_path: Path) -> None:
    settings = [
        "cluster.mode=threads",
        "engine.total_env_steps=1_000",
        "engine.final_evaluation_episodes=2",
        "logging.live=lines",
    ]
    started_at = time.monotonic()
    result = run_program(["train", "cartpole-ppo", *settings], tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert time.monotonic() - started_at < 30


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_B77_a_source_that_ends_before_the_training_is_an_error(tmp_path: Path, mode: str) -> None:
    env = {"id": FINITE, "num_workers": 2, "num_envs": 2, "kwargs": {"num_available": 10}}
    started_at = time.monotonic()
    with pytest.raises(EnvironmentFailedError, match="no more steps") as caught:
        train(tmp_path, env, f"cluster.mode={mode}")
    assert caught.value.worker_id in ("env-0", "env-1")
    assert time.monotonic() - started_at < 15.0
    (folder,) = tmp_path.iterdir()
    assert len(list((folder / "checkpoints").glob("*.pt"))) == 2, "two iterations were whole"


def test_B65_a_run_with_two_kinds_of_environment_trains_both(tmp_path: Path) -> None:
    env = [{"id": COUNTING, "num_envs": 2}, {"id": "CartPole-v1", "num_envs": 2}]
    result = train(tmp_path, env)
    rows: list[dict[str, Any]] = _rows(result.run_folder)
    first = rows[0]
    kinds = {name.split("/")[0] for name in first if name.endswith("/policy_loss")}
    assert len(kinds) == 2
    crossing = [
        name
        for name in first
        if name.startswith(("tasks/env-0/eval-2", "tasks/env-0/eval-3", "tasks/env-1/eval-0"))
    ]
    assert crossing == []
    evaluation = rlightning.evaluate(result.run_folder, episodes=4)
    assert evaluation.num_episodes == 4


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
