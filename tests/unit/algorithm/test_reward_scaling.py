"""Rewards are divided by the deviation of the discounted return, per sub-environment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

from rlightning.algorithm.reward_scaling import RewardScaling
from rlightning.config.policy_config import PolicyConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.policy.normalization import RunningMoments
from rlightning.testing.random_fragments import RandomFragments
from rlightning.types import Fragment

POLICY = create_actor_critic(
    SpaceKind(Box(-1.0, 1.0, (3,), np.float32), Discrete(2)), PolicyConfig(), 0
)


def fragment_of(reward: list[list[float]], ended: str = "", env_id: str = "env-0") -> Fragment:
    """Return a fragment of one sub-environment with these rewards, ended at steps marked x."""
    rewards = np.array(reward, dtype=np.float32)
    terminated = np.zeros(rewards.shape, dtype=bool)
    terminated[: len(ended)] = np.array([[letter == "x"] for letter in ended]).reshape(-1, 1)
    template = RandomFragments(*rewards.shape, end_probability=0.0).collect(POLICY)
    return replace(template, reward=rewards, terminated=terminated, env_id=env_id)


def create(moments: RunningMoments, clip: float = 10.0) -> RewardScaling:
    return RewardScaling(moments, discount=0.5, clip=clip)


def test_rewards_are_divided_by_the_deviation_of_the_discounted_return():
    # discounted returns 4, 0.5 * 4 + 2 = 4, 0.5 * 4 + 6 = 8, ended, 4:
    # mean 5, variance (1 + 1 + 9 + 1) / 4 = 3
    moments = RunningMoments(())
    (scaled,) = create(moments).scaled([fragment_of([[4], [2], [6], [4]], "..x.")])
    assert float(moments.variance) == pytest.approx(3.0)
    np.testing.assert_allclose(scaled, np.array([[4], [2], [6], [4]]) / np.sqrt(3.0), rtol=1e-6)


def test_an_unfinished_episode_goes_on_in_the_next_fragment():
    whole, halves = RunningMoments(()), RunningMoments(())
    create(whole).scaled([fragment_of([[4], [2], [6], [4]])])
    scaling = create(halves)
    scaling.scaled([fragment_of([[4], [2]])])
    scaling.scaled([fragment_of([[6], [4]])])
    torch.testing.assert_close(whole.variance, halves.variance)


def test_every_worker_has_returns_of_its_own():
    one, two = RunningMoments(()), RunningMoments(())
    create(one).scaled([fragment_of([[4], [2]]), fragment_of([[1], [5]], env_id="env-1")])
    create(two).scaled([fragment_of([[4, 1], [2, 5]])])
    torch.testing.assert_close(one.variance, two.variance)


def test_scaled_rewards_are_clipped():
    (scaled,) = create(RunningMoments(()), clip=0.5).scaled([fragment_of([[-4], [2], [6]])])
    assert (scaled.min(), scaled.max()) == (-0.5, 0.5)


def test_reset_rows_count_in_no_statistic():
    fragment = fragment_of([[4], [1000], [2]])
    valid = np.array([[True], [False], [True]])
    with_reset, without = RunningMoments(()), RunningMoments(())
    create(with_reset).scaled([replace(fragment, valid=valid)])
    create(without).scaled([fragment_of([[4], [2]])])
    torch.testing.assert_close(with_reset.variance, without.variance)
    assert float(with_reset.count) == 2


def test_a_restored_state_goes_on_and_shares_no_memory():
    first, second = create(RunningMoments(())), create(RunningMoments(()))
    first.scaled([fragment_of([[4], [2]])])
    state = first.state_dict()
    second.load_state_dict(state)
    first.scaled([fragment_of([[1]])])
    assert state["env-0"].tolist() == second.state_dict()["env-0"].tolist() == [4.0]


def test_new_episodes_start_at_zero():
    scaling = create(RunningMoments(()))
    scaling.scaled([fragment_of([[4], [2]])])
    scaling.start_new_episodes()
    assert scaling.state_dict() == {}
