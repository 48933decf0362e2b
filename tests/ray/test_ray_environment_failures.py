"""How a run on Ray ends whose environments fail again and again, or answer what nobody can use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")

HOUSE = "rlightning.testing.environments:"
SETTINGS = [
    "cartpole-ppo",
    "cluster.backend=ray",
    "cluster.max_restarts=1",
    "cluster.restart_backoff_seconds=0.1",
    "cluster.start_timeout_seconds=120",
    "env.num_workers=1",
    "env.num_envs=2",
    "policy.num_eval_policies=1",
    "engine.total_env_steps=1024",
    "engine.final_evaluation_episodes=0",
    "algorithm.minibatch_size=64",
    "logging.live=off",
    "logging.tensorboard=false",
]

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]


def failed_training(folder: Path, *settings: str) -> str:
    words = [*SETTINGS, f"logging.folder={folder}", *settings]
    command = [sys.executable, "-m", "rlightning.cli.main", "train", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_one_that_raises_each_time_spends_the_restarts_and_is_named_with_all_that_is_known(
    tmp_path: Path,
) -> None:
    printed = failed_training(tmp_path, f"env.id={HOUSE}Raising-v0", "env.kwargs.at_step=3")
    error = next(line for line in printed.splitlines() if line.startswith("error: "))
    for part in (
        "expected worker 'env-0' (incarnation 2, node ",
        "its 1 restarts are spent (cluster.max_restarts=1)",
        "cause: EnvironmentRaisedError: ",
        "step 3: expected an answer, got RuntimeError: the simulator crashed in step",
        "last sign of life: ",
        "rlightning resume",
    ):
        assert part in error
    assert 'raise RuntimeError("the simulator crashed in step")' in printed, "of the restart"


def test_a_number_that_is_not_finite_ends_the_run_at_once(tmp_path: Path) -> None:
    printed = failed_training(tmp_path, f"env.id={HOUSE}NaN-v0", "env.kwargs.at_step=2")
    assert "step 2: expected a finite observation" in printed
    assert "restart" not in printed


@pytest.mark.parametrize("is_disk_full", [False, True])
def test_fragments_larger_than_the_store_go_over_the_disk_or_end_the_run_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_disk_full: bool
) -> None:
    steps = tmp_path / "steps"
    steps.mkdir()
    large = [
        "env.id=rlightning.testing.faults.stamped_environment:StampedCartPole-v0",
        f"env.kwargs.folder={steps}",
        "env.kwargs.num_padding_values=400_000",
        "env.num_envs=4",
        "engine.rollout_length=16",
        "engine.total_env_steps=128",
        "policy.hidden_sizes=[2]",
        "algorithm.num_epochs=1",
        "cluster.object_store_mib=80",
    ]
    if is_disk_full:
        monkeypatch.setenv("RAY_local_fs_capacity_threshold", "0.001")
        printed = failed_training(tmp_path, *large)
        assert "expected room in Ray's object store" in printed
        assert "raise cluster.object_store_mib" in printed
        return
    words = [*SETTINGS, f"logging.folder={tmp_path}", *large]
    command = [sys.executable, "-m", "rlightning.cli.main", "train", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, done.stderr
    (metrics,) = tmp_path.glob("*/metrics.jsonl")
    assert json.loads(metrics.read_text().splitlines()[-1])["env_steps"] == 128
