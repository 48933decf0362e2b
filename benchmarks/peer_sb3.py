"""Stable-Baselines3's PPO on CartPole-v1: one iteration for each line read, its seconds printed.

Runs in a virtual environment of its own, started by `benchmarks.peers`.
"""

from __future__ import annotations

import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

MANY_STEPS = 10**9


class OneIterationPerLine(BaseCallback):
    """Lets each iteration wait for a line, and prints how long the one before it took."""

    def __init__(self) -> None:
        super().__init__()
        self._started: float | None = None

    def _on_rollout_start(self) -> None:
        if self._started is not None:
            print(time.perf_counter() - self._started, flush=True)
        if not sys.stdin.readline():
            raise SystemExit(0)
        self._started = time.perf_counter()

    def _on_step(self) -> bool:
        return True


def main() -> None:
    """Train for as long as lines come."""
    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=64, seed=0),
        n_steps=128,
        batch_size=2_048,
        n_epochs=4,
        device="cpu",
        seed=0,
    )
    model.learn(total_timesteps=MANY_STEPS, callback=OneIterationPerLine())


if __name__ == "__main__":
    main()
