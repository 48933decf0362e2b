"""EnvPool is stood in for by a module with its interface and a counting environment inside."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.env.make import make_vector_env
from rlightning.env.worker import EnvWorker
from rlightning.errors import ConfigError, EnvironmentFailedError
from rlightning.testing.environments import create_counting_vector_env
from rlightning.types import ActionBatch


class FakePool:
    """Like a pool of EnvPool: seeded when made, single spaces, next-step resets."""

    made: list[FakePool] = []  # noqa: RUF012

    def __init__(self, name: str, num_envs: int, seed: int, **kwargs: Any) -> None:
        self.seed, self.name, self.num_closed = seed, name, 0
        self._env = create_counting_vector_env(num_envs, "NextStep", **kwargs)
        self.single_observation_space = self._env.single_observation_space
        self.single_action_space = self._env.single_action_space
        FakePool.made.append(self)

    def reset(self):
        return self._env.reset()

    def step(self, actions):
        return self._env.step(actions)

    def close(self) -> None:
        self.num_closed += 1
        self._env.close()


@pytest.fixture(autouse=True)
def _fake_envpool(monkeypatch):
    module = types.ModuleType("envpool")
    module.list_all_envs = lambda: ["Pong-v5", "Breakout-v5"]
    module.make_gymnasium = FakePool
    monkeypatch.setitem(sys.modules, "envpool", module)
    monkeypatch.setattr(FakePool, "made", [])


def _config(**options: Any) -> EnvConfig:
    return EnvConfig(**{"id": "envpool:Pong-v5", "num_envs": 2, **options})


def test_a_pool_is_made_with_its_kwargs() -> None:
    env = make_vector_env(_config(kwargs={"lengths": [[1]]}))
    env.reset(seed=7)
    assert env.step(np.zeros(2, dtype=int))[2].tolist() == [True, True]
    assert FakePool.made[-1].name == "Pong-v5"
    env.close()


def test_a_seeded_reset_makes_a_new_pool_and_closes_the_old_one() -> None:
    env = make_vector_env(_config())
    env.reset(seed=7)
    env.reset()
    assert [pool.seed for pool in FakePool.made] == [0, 7]
    env.close()
    assert [pool.num_closed for pool in FakePool.made] == [1, 1]


def test_a_worker_plays_it_with_next_step_resets() -> None:
    worker = EnvWorker(_config(kwargs={"lengths": [[2]]}), 0, rollout_length=4, seed=0)
    worker.reset()
    zeros = np.zeros(2, dtype=np.float32)
    for _ in range(4):
        worker.step(ActionBatch("env-0", np.zeros(2, dtype=int), zeros, zeros, 0, "eval-0"))
    fragment = worker.take_fragment()
    assert fragment.observation[:, 0, 0].tolist() == [100, 101, 102, 200]
    assert fragment.valid[:, 0].tolist() == [True, True, False, True]
    worker.close()


def test_an_unknown_environment_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(EnvironmentFailedError, match="did you mean 'Pong-v5'"):
        make_vector_env(_config(id="envpool:Pon-v5"))


@pytest.mark.parametrize(
    "options", [{"vectorization": "sync"}, {"wrappers": ["gymnasium.wrappers:FlattenObservation"]}]
)
def test_single_environments_cannot_be_had(options) -> None:
    with pytest.raises(ConfigError, match="EnvPool steps all sub-environments at once"):
        make_vector_env(_config(**options))
