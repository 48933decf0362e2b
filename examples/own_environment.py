"""Train on an environment of your own: any Gymnasium environment will do.

On the command line, from this folder:

    rlightning train cartpole-ppo env.id=own_environment:Corridor-v0 env.kwargs.length=12
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

import rlightning


class Corridor(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Walk to the right end; each step costs a little."""

    observation_space = Box(0.0, 1.0, (1,), np.float32)
    action_space = Discrete(2)

    def __init__(self, length: int = 8) -> None:
        self._length = length
        self._place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start at the left end."""
        super().reset(seed=seed)
        self._place = 0
        return self._observation(), {}

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Walk to the right (1) or to the left (0)."""
        self._place = max(0, self._place + (1 if action == 1 else -1))
        is_at_end = self._place == self._length
        return self._observation(), 1.0 if is_at_end else -0.05, is_at_end, False, {}

    def _observation(self) -> NDArray[np.float32]:
        return np.array([self._place / self._length], dtype=np.float32)


def create_corridor(**kwargs: Any) -> Corridor:
    """Take what stands under `env.kwargs`."""
    return Corridor(**kwargs)


gymnasium.register("Corridor-v0", entry_point=create_corridor, max_episode_steps=50)

if __name__ == "__main__":
    settings = ["name=corridor", "env.id=Corridor-v0", "engine.total_env_steps=4_000"]
    result = rlightning.train("cartpole-ppo", settings)
    print(f"mean return {rlightning.evaluate(result.run_folder, episodes=20).mean_return}")
