"""Modules of the user's own reach the workers by the runtime environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")

LIMIT_SECONDS = 280.0
ENVIRONMENT = '''
import gymnasium
import numpy as np


class Corridor(gymnasium.Env):
    """Ends after eight steps."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 8
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.zeros(2, np.float32), float(action), self.left == 0, False, {}


gymnasium.register("Corridor-v0", entry_point=Corridor)
'''
PROGRAM = """
import sys

sys.path.insert(0, sys.argv[1])  # of this process alone
from rlightning import train

train(
    {"env": {"id": "corridor_of_mine:Corridor-v0", "num_workers": 1, "num_envs": 2}},
    ["cluster.backend=ray", "cluster.object_store_mib=100", "cluster.start_timeout_seconds=120",
     "engine.rollout_length=32", "engine.total_env_steps=64", "algorithm.name=ppo",
     "algorithm.minibatch_size=32", "engine.final_evaluation_episodes=0", "logging.live=off",
     "logging.tensorboard=false", "logging.folder=" + sys.argv[2], *sys.argv[3:]],
)
print("trained")
"""


def run(tmp_path: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    modules = tmp_path / "modules"
    package = modules / "corridor_of_mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(ENVIRONMENT)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(modules), str(tmp_path / "runs"), *settings],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@pytest.mark.long
@pytest.mark.timeout(300)
def test_an_environment_that_only_the_driver_can_import_reaches_the_workers(tmp_path: Path) -> None:
    package = tmp_path / "modules" / "corridor_of_mine"
    trained = run(tmp_path, f"cluster.runtime_env={{py_modules: [{package}]}}")
    assert trained.returncode == 0, trained.stderr[-3000:]
    assert "trained" in trained.stdout


@pytest.mark.long
@pytest.mark.timeout(300)
def test_without_it_the_error_names_the_module(tmp_path: Path) -> None:
    refused = run(tmp_path)
    assert refused.returncode != 0
    assert "corridor_of_mine" in refused.stderr
