"""Environment workers that tests call directly."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlightning.config.env_config import EnvConfig
from rlightning.env.worker import EnvWorker
from rlightning.types import ActionBatch

TESTING = "rlightning.testing.environments:"
"""What the ids of the environments begin with that tests use."""


def create_worker(
    env_id: str, index: int = 0, length: int = 4, seed: int = 0, **config: Any
) -> EnvWorker:
    """Return a worker of two sub-environments, or as many as are given.

    Args:
        env_id: Of the simulator.
        index: Of the worker.
        length: Steps of a fragment.
        seed: Of all its randomness.
        config: Other settings of the environments.
    """
    return EnvWorker(EnvConfig(id=env_id, **{"num_envs": 2, **config}), index, length, seed)


def answer_of(action: Any) -> ActionBatch:
    """Return what a replica would answer that takes these actions. Shape: (N, ...)."""
    actions = np.asarray(action)
    zeros = np.zeros(len(actions), dtype=np.float32)
    return ActionBatch("env-0", actions, zeros, zeros, 0, "eval-0")


STAY = answer_of([0, 0])
"""The first action, for two sub-environments."""
