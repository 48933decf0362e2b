from __future__ import annotations

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box

from rlightning.env.worker import EnvWorker
from rlightning.errors import (
    CheckpointError,
    EnvironmentFailedError,
)
from rlightning.testing.env_workers import STAY, TESTING, create_worker
from rlightning.testing.environments import CountingEnv


class RandomEnv(CountingEnv):
    """Shows a number drawn from its own generator."""

    observation_space = Box(0.0, 1.0, shape=(1,), dtype=np.float32)

    def _observation(self):
        return self.np_random.random(1, dtype=np.float32)


@pytest.fixture(autouse=True)
def _environments_of_this_file():
    names = {"Random": RandomEnv}
    for name, entry_point in names.items():
        gymnasium.register(f"{name}-v0", entry_point=entry_point)
    yield
    for name in names:
        gymnasium.registry.pop(f"{name}-v0")


def _play(worker: EnvWorker, num_steps: int = 6) -> list[float]:
    requests = [worker.reset()] + [worker.step(STAY) for _ in range(num_steps)]
    return [float(x) for r in requests for x in (*r.observation.flat, *r.noise.flat)]


def _random_worker(index: int, seed: int) -> EnvWorker:
    return create_worker("Random-v0", index=index, seed=seed, length=6)


def test_the_seed_and_the_index_decide_everything() -> None:
    assert _play(_random_worker(0, 1)) == _play(_random_worker(0, 1))
    plays = [_play(_random_worker(*pair)) for pair in ((0, 1), (1, 1), (0, 2), (1, 0))]
    flat = [number for play in plays for number in play]
    assert len(set(flat)) == len(flat)


def test_a_second_reset_starts_other_episodes() -> None:
    worker = _random_worker(0, 1)
    assert _play(worker) != _play(worker)


def test_a_restored_worker_goes_on_with_new_episodes_always_the_same() -> None:
    worker = _random_worker(0, 1)
    first = _play(worker)
    worker.take_fragment()
    state = json.loads(json.dumps(worker.state()))
    resumed = []
    for _ in range(2):
        other = _random_worker(0, 99)
        other.reset()
        other.restore(state)
        resumed.append(_play(other))
    assert resumed[0] == resumed[1]
    assert not set(resumed[0]) & set(first)


def test_a_restored_worker_must_be_reset_before_it_steps() -> None:
    worker = create_worker(TESTING + "Counting-v0")
    worker.reset()
    worker.restore(worker.state())
    with pytest.raises(EnvironmentFailedError, match="reset"):
        worker.step(STAY)
    worker.close()


@pytest.mark.parametrize("state", [{}, {"seeds": {}}, {"seeds": 5, "noise": 5}])
def test_a_damaged_state_is_refused(state) -> None:
    with pytest.raises(CheckpointError, match="expected generator states"):
        create_worker(TESTING + "Counting-v0").restore(state)
