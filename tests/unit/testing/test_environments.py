from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlightning.testing.environments import (
    CountingEnv,
    FiniteEnv,
    HangingEnv,
    NaNEnv,
    RaisingEnv,
    WrongShapeEnv,
    create_counting_vector_env,
)

ACTION = np.int64(0)


def _play(env: gymnasium.Env, num_steps: int) -> list[tuple[float, float, bool, bool]]:
    return [
        (float(observation[0]), float(reward), terminated, truncated)
        for observation, reward, terminated, truncated, _ in (
            env.step(ACTION) for _ in range(num_steps)
        )
    ]


def test_the_counting_environment_shows_episode_and_step() -> None:
    env = CountingEnv(lengths=[2, 1], ends=["terminated", "truncated", "both"])
    assert env.reset()[0].tolist() == [100]
    assert _play(env, 2) == [(101, 1, False, False), (102, 2, True, False)]
    assert env.reset()[0].tolist() == [200]
    assert _play(env, 1) == [(201, 1, False, True)]
    assert env.reset()[0].tolist() == [300]
    assert _play(env, 2) == [(301, 1, False, False), (302, 2, True, True)]


@pytest.mark.parametrize("reuse_buffer", [True, False])
def test_the_counting_environment_may_reuse_its_array(reuse_buffer) -> None:
    env = CountingEnv(reuse_buffer=reuse_buffer)
    first, _ = env.reset()
    second = env.step(ACTION)[0]
    assert (first is second) == reuse_buffer


@pytest.mark.parametrize(
    "name", ["Counting", "Raising", "NaN", "WrongShape", "Hanging", "Finite", "CountingVector"]
)
def test_every_environment_can_be_made_by_its_id(name) -> None:
    env = gymnasium.make(f"rlightning.testing.environments:{name}-v0")
    assert isinstance(env.unwrapped, CountingEnv)
    assert env.reset(seed=0)[0].tolist() == [100]
    env.close()
    assert env.unwrapped.was_closed


def test_the_counting_environment_keeps_gymnasiums_contract(monkeypatch) -> None:
    env = CountingEnv()
    monkeypatch.setattr(env, "reset", _always_the_first_episode(env))
    env.spec = gymnasium.spec("Counting-v0")
    check_env(env, skip_render_check=True, skip_close_check=True)


def _always_the_first_episode(env: CountingEnv):
    def reset(*, seed=None, options=None):
        env._episode = 0
        return CountingEnv.reset(env, seed=seed, options=options)

    return reset


def test_the_raising_environment_raises_in_the_chosen_step_or_reset() -> None:
    env = RaisingEnv(at_step=2, at_reset=3)
    env.reset()
    env.step(ACTION)
    with pytest.raises(RuntimeError, match="in step"):
        env.step(ACTION)
    env.reset()
    with pytest.raises(RuntimeError, match="in reset"):
        env.reset()


def test_the_nan_environment_is_wrong_at_its_step_only() -> None:
    env = NaNEnv(at_step=3, lengths=[3])
    env.reset()
    seen = [seen for seen, *_ in _play(env, 3)]
    assert seen[:2] == [101, 102]
    assert math.isnan(seen[2])
    assert env.reset()[0].tolist() == [200]
    env = NaNEnv(at_step=1, where="reward", value=math.inf)
    env.reset()
    assert [reward for _, reward, *_ in _play(env, 2)] == [math.inf, 2]
    assert math.isnan(NaNEnv(at_step=0).reset()[0][0])


def test_the_wrong_shape_environment_is_wrong_at_its_step_only() -> None:
    env = WrongShapeEnv(at_step=2)
    shapes = [env.reset()[0].shape, *(env.step(ACTION)[0].shape for _ in range(3))]
    assert shapes == [(1,), (1,), (3,), (1,)]


def test_the_hanging_environment_waits_in_its_step_only() -> None:
    waits: list[float] = []
    env = HangingEnv(at_step=2, seconds=9.0, wait=waits.append)
    env.reset()
    _play(env, 3)
    assert waits == [9.0]


def test_the_finite_environment_ends() -> None:
    env = FiniteEnv(num_available=2)
    env.reset()
    _play(env, 2)
    with pytest.raises(StopIteration, match="no more steps"):
        env.step(ACTION)


def test_the_counting_vector_environment_gives_each_its_own_lengths() -> None:
    env = create_counting_vector_env(3, "SameStep", lengths=[[1], [2]], reuse_buffer=False)
    env.reset()
    assert env.step(np.zeros(3, dtype=np.int64))[0].tolist() == [[200], [101], [200]]
    env.close()
