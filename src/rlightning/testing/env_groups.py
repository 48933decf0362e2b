"""Groups of environment workers that tests step by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.group import EnvGroup
from rlightning.runtime.base import Runtime
from rlightning.types import ActionBatch, ObservationBatch

COUNTING = EnvConfig(id="rlightning.testing.environments:Counting-v0", num_workers=2, num_envs=2)
CART_POLE = EnvConfig(id="CartPole-v1", num_workers=3, num_envs=4)
PENDULUM = EnvConfig(id="Pendulum-v1", num_envs=2)

NUM_PENDULUM_VALUES = 3
LIMIT_SECONDS = 30.0


def create_group(
    runtime: Runtime, *configs: EnvConfig, rollout_length: int = 3, **options: Any
) -> EnvGroup:
    """Return a group whose calls have a deadline."""
    submitter = TaskSubmitter(timeout_seconds=LIMIT_SECONDS)
    return EnvGroup(runtime, submitter, configs, rollout_length, 0, **options)


def still_action(request: ObservationBatch, policy_version: int = 0) -> ActionBatch:
    """Return an answer of zeros to an observation of one of the environments above."""
    num_envs, size = request.noise.shape
    is_pendulum = request.observation.shape[1] == NUM_PENDULUM_VALUES
    action = np.zeros((num_envs, size), np.float32) if is_pendulum else np.zeros(num_envs, int)
    zeros = np.zeros(num_envs, dtype=np.float32)
    return ActionBatch(request.env_id, action, zeros, zeros, policy_version, "eval-0")


def step_all(group: EnvGroup) -> list[str]:
    """Step every worker once; return their ids in the order in which they had answered."""
    stepped = []
    for env_id, task in group.observations():
        group.step(env_id, still_action(task.result(LIMIT_SECONDS)))
        stepped.append(env_id)
    return stepped
