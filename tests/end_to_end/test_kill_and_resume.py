"""A run killed with SIGKILL at any moment goes on from its last checkpoint, with everything."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlightning.algorithm.ppo import PPO
from rlightning.engine.assembly import AssemblyPlan, assemble
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_state import RunState
from rlightning.env.worker import EnvWorker
from rlightning.metrics.iteration_report import Row
from rlightning.metrics.recorder import Recorder
from rlightning.testing.restored_state import restored_state_faults
from rlightning.testing.resumed_run import (
    KilledRun,
    folder_faults,
    plant_leftovers,
    read_killed_run,
    resume_faults,
    row_faults,
)
from rlightning.testing.run_killer import COMMAND, SETTINGS, RunKiller

NUM_KILLS = 3
DEADLINE_SECONDS = 90.0
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def _resume(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "resume", str(folder)],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS,
    )  # fmt: skip


def _wait_for(has_come: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not has_come():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def training_without_checkpoint(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A training in its second iteration or later that would write no checkpoint for long."""
    words = ["train", "cartpole-ppo", *SETTINGS, "engine.checkpoint_interval=1_000_000"]
    process = subprocess.Popen(
        [*COMMAND, *words, f"logging.folder={tmp_path}"], env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _wait_for(
            lambda: any(path.stat().st_size for path in tmp_path.glob("*/metrics.jsonl")), process
        )
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def killed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return RunKiller(tmp_path_factory.mktemp("runs"), seed=11).kill_once()


@pytest.fixture(scope="module")
def killed(killed_folder: Path) -> KilledRun:
    return read_killed_run(killed_folder)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_again_and_again_it_goes_on_with_everything_restored(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    killer = RunKiller(tmp_path / "runs", seed=5)
    iterations = []
    for number in range(NUM_KILLS):
        folder = killer.kill_once()
        iterations.append(read_killed_run(folder).iteration)
        scratch = tmp_path / str(number)
        scratch.mkdir()
        assert resume_faults(folder, scratch) == []
    assert iterations == sorted(iterations)
    assert iterations[-1] > iterations[0], "the run itself went on between the kills"


@pytest.mark.slow
def test_a_second_process_is_refused_and_a_run_without_checkpoint_says_so(
    tmp_path: Path, training_without_checkpoint: subprocess.Popen[str]
) -> None:
    (folder,) = tmp_path.iterdir()
    refused = _resume(folder)
    assert refused.returncode == 3
    assert f"process {training_without_checkpoint.pid} is at work" in refused.stderr
    assert training_without_checkpoint.poll() is None, "the first one goes on"
    training_without_checkpoint.send_signal(signal.SIGKILL)
    training_without_checkpoint.wait(DEADLINE_SECONDS)
    metrics = (folder / "metrics.jsonl").read_bytes()
    answer = _resume(folder)
    assert answer.returncode == 3
    assert "expected a checkpoint in" in answer.stderr
    assert "the run ended before its first one: start it anew" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert (folder / "metrics.jsonl").read_bytes() == metrics


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "method", "faults"),
    [
        (PPO, "load_state_dict", ["['optimizer']", "['generator']"]),
        (
            EnvWorker,
            "restore",
            ["['workers']['env-0']['seeds']", "['workers']['env-1']['noise']"],
        ),
        (TrainingProgress, "load_state_dict", ["['env_steps']", "['seconds']"]),
        (Recorder, "restore", ["state['recorder']"]),
    ],
)
def test_a_part_that_is_not_restored_is_found(
    killed: KilledRun, monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, faults: list[str]
) -> None:
    assert restored_state_faults(killed.config, killed.checkpoint) == []
    monkeypatch.setattr(owner, method, lambda self, state: None)
    found = restored_state_faults(killed.config, killed.checkpoint)
    for fault in faults:
        assert any(fault in text for text in found), found


def test_a_checkpoint_of_a_new_run_is_found_to_show_nothing(killed: KilledRun) -> None:
    config = killed.config
    plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed)
    with assemble(config, plan) as assembly:
        parts = assembly.environments, assembly.policies
        progress = TrainingProgress(config.engine.total_env_steps)
        new = RunState(*parts, progress, Recorder(())).capture()
    faults = restored_state_faults(config, new)
    assert len(faults) == 9, faults
    assert all(fault.startswith("as in a new run, which shows nothing") for fault in faults)


def _rows_of_a_good_end(killed: KilledRun) -> list[Row]:
    """Rows as a well resumed run would write them after those of the checkpoint."""
    total = killed.config.engine.total_env_steps
    rows = list(killed.rows)
    for number in range(1, 5):
        rate = 1e-3 * (1.0 - (rows[-1]["env_steps"] or 0) / total)
        row = {**rows[-1], "iteration": killed.iteration + number, "learning_rate": rate}
        rows.append(row)
        for name in ("env_steps", "seconds", "policy_version"):
            row[name] = (row[name] or 0) + 1
    return rows


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("iteration", -1, "iterations are not each there once"),
        ("env_steps", -1, "env_steps do not grow"),
        ("policy_version", -1, "policy_version does not grow"),
        ("seconds", -2, "seconds fall"),
        ("learning_rate", 1e-6, "the schedule says"),
    ],
)
def test_metrics_that_do_not_go_on_are_found(
    killed: KilledRun, name: str, change: float, fault: str
) -> None:
    rows = _rows_of_a_good_end(killed)
    assert row_faults(rows, killed) == []
    first_new = rows[killed.iteration]
    first_new[name] = (first_new[name] or 0) + change
    found = row_faults(rows, killed)
    assert any(fault in text for text in found), found


def test_metrics_that_changed_or_are_missing_are_found(killed: KilledRun) -> None:
    rows = _rows_of_a_good_end(killed)
    assert row_faults(rows[:-1], killed) == ["expected 4 iterations more, got 3"]
    rows[0] = {**rows[0], "value_loss": -1.0}
    assert "rows up to the checkpoint have changed" in row_faults(rows, killed)


def test_leftovers_of_a_kill_are_found(killed_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(killed_folder, tmp_path / "copy"))
    killed = read_killed_run(folder)
    RunFolder(folder).cut_metrics_after(killed.iteration)
    plant_leftovers(folder, killed.iteration)
    faults = folder_faults(folder, killed)
    assert "lines of metrics cannot be read" in faults
    assert "something half written is left" in faults
    assert "there is no final evaluation" in faults
    assert read_killed_run(folder).rows == killed.rows, "leftovers are passed over"
