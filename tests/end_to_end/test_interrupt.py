"""Real signals to the real command: the first one asks, the second one insists."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rlightning
from rlightning.testing.eventually import eventually

WAIT_SECONDS = 60.0
SETTINGS = [
    "engine.total_env_steps=10_000_000",
    "engine.checkpoint_interval=1_000_000",
    "engine.final_evaluation_episodes=0",
    "logging.live=lines",
    "logging.tensorboard=false",
]


class Command:
    """`rlightning train` in a folder, and what it has written so far."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self._folder = folder
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        words = ["-m", "rlightning.cli.main", "train", "cartpole-ppo", *SETTINGS, *settings]
        self.process = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def run_folder(self) -> Path:
        (folder,) = (self._folder / "runs").iterdir()
        return folder

    def rows(self) -> list[dict[str, float]]:
        paths = list(self._folder.glob("runs/*/metrics.jsonl"))
        text = paths[0].read_text() if paths else ""
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def wait_for_iterations(self, num_iterations: int) -> None:
        self._wait_until(lambda: len(self.rows()) >= num_iterations)

    def wait_for_the_run_folder(self) -> None:
        self._wait_until(lambda: list(self._folder.glob("runs/*/config.yaml")))

    def _wait_until(self, condition: Callable[[], object]) -> None:
        eventually(lambda: condition() or self.process.poll() is not None, WAIT_SECONDS)
        assert self.process.poll() is None, self.end()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode, out, err


@pytest.fixture(params=["inline", "threads"])
def command(request, tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path, f"cluster.mode={request.param}")
    yield command
    command.process.kill()
    command.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_run_with_a_checkpoint_from_which_it_goes_on(
    command: Command, number: signal.Signals
) -> None:
    command.wait_for_iterations(2)
    command.send(number)
    code, out, err = command.end()
    assert code == 130, err
    assert "ending after this iteration, with a checkpoint" in out
    assert "go on with: rlightning resume" in out
    rows = command.rows()
    assert len(list((command.run_folder / "checkpoints").glob("*.pt"))) == 1
    last = int(rows[-1]["env_steps"])
    resumed = rlightning.resume(
        command.run_folder, [f"engine.total_env_steps={last + 1}", "logging.live=off"]
    )
    assert resumed.env_steps > last
    assert resumed.iterations == rows[-1]["iteration"] + 1
    assert not resumed.was_interrupted


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_two_signals_end_the_run_at_once(tmp_path: Path, first: signal.Signals) -> None:
    """An iteration of many thousand steps takes far longer than the end may take."""
    command = Command(tmp_path, "engine.rollout_length=500_000")
    try:
        command.wait_for_the_run_folder()
        time.sleep(3.0)  # until the first iteration has begun: nothing on disk shows it
        command.send(first)
        assert command.process.stdout is not None
        assert "ending after this iteration" in command.process.stdout.readline()
        sent_at = time.monotonic()
        command.send(signal.SIGINT)
        assert command.process.stderr is not None
        assert "interrupted at once" in command.process.stderr.readline()
        assert time.monotonic() - sent_at < 2.0
        code, _, _ = command.end()
        assert code == 130
        assert time.monotonic() - sent_at < 10.0, "the interpreter itself takes about one second"
    finally:
        command.process.kill()
        command.process.communicate()
