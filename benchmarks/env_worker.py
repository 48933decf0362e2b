"""What a step through `EnvWorker` costs beside the bare vectorised environment.

Both take turns in the same run, so that other load on the machine meets both:

    python -m benchmarks.env_worker
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from rlightning.config.env_config import EnvConfig
from rlightning.env.make import make_vector_env
from rlightning.env.worker import EnvWorker
from rlightning.types import ActionBatch

NUM_ENVS = 32
ROLLOUT_LENGTH = 128
NUM_ROUNDS = 60


def seconds_of(work: Callable[[], None]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(env_id: str) -> None:
    """Print the time of a step for the bare environment and for the worker."""
    config = EnvConfig(id=env_id, num_envs=NUM_ENVS)
    bare, worker = make_vector_env(config), EnvWorker(config, 0, ROLLOUT_LENGTH, seed=0)
    bare.reset(seed=0)
    worker.reset()
    bare.action_space.seed(0)
    actions = [bare.action_space.sample() for _ in range(ROLLOUT_LENGTH)]
    zeros = np.zeros(NUM_ENVS, dtype=np.float32)
    answers = [ActionBatch("env-0", action, zeros, zeros, 0, "eval-0") for action in actions]

    def step_bare() -> None:
        for action in actions:
            _, _, terminated, truncated, _ = bare.step(action)
            ended = terminated | truncated
            if is_disabled and ended.any():
                bare.reset(options={"reset_mask": ended})

    def step_worker() -> None:
        for answer in answers:
            worker.step(answer)
        worker.take_fragment()

    is_disabled = bare.metadata["autoreset_mode"].value == "Disabled"
    pairs = [(seconds_of(step_bare), seconds_of(step_worker)) for _ in range(NUM_ROUNDS)]
    per_step = 1e6 / ROLLOUT_LENGTH
    bare_us, worker_us = (statistics.median(times) * per_step for times in zip(*pairs, strict=True))
    ratio = statistics.median(with_worker / alone for alone, with_worker in pairs)
    print(
        f"{env_id}, {NUM_ENVS} sub-environments: bare {bare_us:.1f} us, "
        f"worker {worker_us:.1f} us per step, ratio {ratio:.3f}"
    )
    bare.close()
    worker.close()


if __name__ == "__main__":
    for name in ("CartPole-v1", "Pendulum-v1"):
        measure(name)
