"""Stable-Baselines3's PPO on CartPole-v1; prints the seconds of each measured iteration as JSON.

Runs in a virtual environment of its own, started by `benchmarks.peers`.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env


class IterationTimer(BaseCallback):
    """Notes when each rollout begins."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[float] = []

    def _on_rollout_start(self) -> None:
        self.started.append(time.perf_counter())

    def _on_step(self) -> bool:
        return True


def main(num_iterations: int) -> None:
    """Train and print how long each iteration took, the first left out."""
    torch.set_num_threads(1)
    timer = IterationTimer()
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=64, seed=0),
        n_steps=128,
        batch_size=2_048,
        n_epochs=4,
        device="cpu",
        seed=0,
    )
    model.learn(total_timesteps=64 * 128 * (num_iterations + 1), callback=timer)
    ended = [*timer.started[1:], time.perf_counter()]
    seconds = [end - start for start, end in zip(timer.started, ended, strict=True)]
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
