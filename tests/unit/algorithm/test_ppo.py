"""PPO improves, repeats itself bit for bit, goes on exactly, and keeps its promises."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from rlightning.algorithm.base import Algorithm
from rlightning.algorithm.ppo import PPO
from rlightning.config.algorithm_config import AlgorithmConfig
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.ppo_config import PPOConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.metrics.names import METRIC_NAMES
from rlightning.policy.actor_critic import ActorCritic, create_actor_critic
from rlightning.testing.random_fragments import RandomFragments
from rlightning.types import Fragment

ACTION_SPACES = [Discrete(3), MultiDiscrete([2, 3]), Box(-1.0, 1.0, (2,), np.float32)]
FRAGMENTS = RandomFragments(num_steps=16, num_envs=4)


def create_policy(action_space: Any = ACTION_SPACES[0], **settings: Any) -> ActorCritic:
    kind = SpaceKind(Box(-1.0, 1.0, (3,), np.float32), action_space)
    return create_actor_critic(kind, PolicyConfig.model_validate(settings), 0)


def create(policy: ActorCritic | None = None, **settings: Any) -> PPO:
    settings = {"minibatch_size": 16, "num_epochs": 2, **settings}
    return PPO(policy or create_policy(), PPOConfig.model_validate(settings), seed=0)


def weights(ppo: PPO) -> dict[str, torch.Tensor]:
    return {name: part.clone() for name, part in ppo.policy.state_dict().items()}


def are_equal(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first | second)


def run(ppo: PPO, num_updates: int, first_seed: int = 0) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for seed in range(first_seed, first_seed + num_updates):
        fragments = [FRAGMENTS.collect(ppo.policy, seed, f"env-{index}") for index in range(2)]
        metrics = ppo.update(fragments, progress=0.1)
    return metrics


EVERYTHING_ON = {
    "clip_range_value": 0.2,
    "entropy_coefficient": 0.01,
    "normalize_rewards": True,
    "target_kl": 0.5,
    "clip_range_schedule": "linear",
}


@pytest.mark.parametrize("action_space", ACTION_SPACES)
@pytest.mark.parametrize("settings", [{}, EVERYTHING_ON])
def test_the_same_seed_gives_the_same_weights_bit_for_bit(action_space, settings):
    policies = [create_policy(action_space, normalize_observations=True) for _ in range(2)]
    first, second = (create(policy, **settings) for policy in policies)
    torch.manual_seed(1)
    run(first, 3)
    torch.manual_seed(2)
    run(second, 3)
    assert are_equal(weights(first), weights(second))


@pytest.mark.parametrize("action_space", ACTION_SPACES)
@pytest.mark.parametrize("normalize_observations", [False, True])
def test_the_first_ratio_is_one_also_after_statistics_moved(action_space, normalize_observations):
    policy = create_policy(action_space, normalize_observations=normalize_observations)
    run(create(policy), 2)
    one_step = create(policy, num_epochs=1, minibatch_size=1000, learning_rate=1e-3)
    metrics = one_step.update([FRAGMENTS.collect(policy, seed=9)], 0.0)
    assert metrics["kl"] == pytest.approx(0.0, abs=1e-9)
    assert metrics["clip_fraction"] == 0.0


def test_the_policy_learns_which_action_is_rewarded():
    ppo = create(learning_rate=1e-2, learning_rate_schedule="constant", num_epochs=4)
    for seed in range(16):
        fragment = FRAGMENTS.collect(ppo.policy, seed)
        reward = (fragment.action == 2).astype(np.float32)
        ppo.update([replace(fragment, reward=reward)], 0.0)
    assert (FRAGMENTS.collect(ppo.policy, seed=99).action == 2).mean() > 0.9


def test_metrics_are_finite_and_in_the_table_of_names():
    metrics = run(create(), 1)
    assert set(metrics) <= {metric.name for metric in METRIC_NAMES}
    assert all(np.isfinite(value) and type(value) is float for value in metrics.values())


def test_the_learning_rate_falls_linearly_to_zero_or_stays():
    fragment = [FRAGMENTS.collect(create_policy())]
    falling, constant = create(), create(learning_rate_schedule="constant")
    assert falling.update(fragment, 0.25)["learning_rate"] == pytest.approx(0.75 * 3e-4)
    assert constant.update(fragment, 0.25)["learning_rate"] == 3e-4
    before = weights(falling)
    falling.update(fragment, 1.0)
    assert are_equal(before, weights(falling))


def test_a_linear_clip_range_is_narrower_later():
    settings = {"clip_range_schedule": "linear", "learning_rate_schedule": "constant"}
    fragment = [FRAGMENTS.collect(create_policy())]
    early = create(**settings, learning_rate=1e-2).update(fragment, 0.0)
    late = create(**settings, learning_rate=1e-2).update(fragment, 0.99)
    assert late["clip_fraction"] > early["clip_fraction"]


def test_an_update_ends_after_the_epoch_that_diverged_too_far():
    settings = {"learning_rate": 1e-2, "num_epochs": 10}
    fragment = [FRAGMENTS.collect(create_policy())]
    stopped, unstopped = create(**settings, target_kl=1e-6), create(**settings)
    one_epoch = create(**{**settings, "num_epochs": 1})
    for ppo in (stopped, unstopped, one_epoch):
        ppo.update(fragment, 0.0)
    assert are_equal(weights(stopped), weights(one_epoch))
    assert not are_equal(weights(stopped), weights(unstopped))


@pytest.mark.parametrize(
    "change",
    [
        {"clip_range_value": 1e-3},
        {"entropy_coefficient": 0.1},
        {"normalize_advantages": False},
        {"normalize_rewards": True},
        {"max_gradient_norm": 1e-8},
        {"value_coefficient": 0.1},
        {"discount": 0.5},
        {"gae_lambda": 0.5},
        {"clip_range": 1e-3},
    ],
)
def test_every_setting_has_an_effect(change):
    fragment = [FRAGMENTS.collect(create_policy())]
    plain, changed = create(), create(**change)
    plain.update(fragment, 0.0)
    changed.update(fragment, 0.0)
    assert not are_equal(weights(plain), weights(changed))


def test_the_gradient_norm_is_measured_before_clipping_and_without_a_limit():
    fragment = [FRAGMENTS.collect(create_policy())]
    settings = {"num_epochs": 1, "minibatch_size": 1000}
    limited = create(**settings, max_gradient_norm=1e-3).update(fragment, 0.0)
    free = create(**settings, max_gradient_norm=None).update(fragment, 0.0)
    assert limited["gradient_norm"] == free["gradient_norm"] > 1e-3


def test_rows_spent_on_resets_change_nothing():
    collected = RandomFragments(invalid_probability=0.3).collect(create_policy())
    spoiled = replace(
        collected,
        observation=np.where(collected.valid[..., None], collected.observation, 1e3),
        reward=np.where(collected.valid, collected.reward, np.float32(1e3)),
        log_prob=np.where(collected.valid, collected.log_prob, np.float32(-7.0)),
    )
    settings = {"normalize_rewards": True}
    first = create(create_policy(normalize_observations=True), **settings)
    second = create(create_policy(normalize_observations=True), **settings)
    first.update([collected], 0.0)
    second.update([replace(spoiled, observation=spoiled.observation.astype(np.float32))], 0.0)
    assert are_equal(weights(first), weights(second))


def test_fragments_may_have_different_numbers_of_environments():
    ppo = create()
    wide = RandomFragments(num_steps=8, num_envs=6).collect(ppo.policy)
    assert np.isfinite(ppo.update([wide, FRAGMENTS.collect(ppo.policy)], 0.0)["policy_loss"])


def test_images_are_learned_from_as_bytes():
    kind = SpaceKind(Box(0, 255, (6, 6, 2), np.uint8), Discrete(3))
    ppo = create(create_actor_critic(kind, PolicyConfig(), 0))
    before = weights(ppo)
    run(ppo, 1)
    assert not are_equal(before, weights(ppo))


def saved_and_loaded(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_a_run_goes_on_exactly_from_a_saved_state():
    original = create(create_policy(normalize_observations=True), **EVERYTHING_ON)
    run(original, 2)
    state = {"policy": weights(original), "algorithm": original.state_dict()}
    run(original, 2, first_seed=2)
    resumed = create(create_policy(normalize_observations=True), **EVERYTHING_ON)
    restored = saved_and_loaded(state)
    resumed.policy.load_state_dict(restored["policy"])
    resumed.load_state_dict(restored["algorithm"])
    run(resumed, 2, first_seed=2)
    assert are_equal(weights(original), weights(resumed))


def test_new_episodes_forget_the_unfinished_returns():
    ppo = create(normalize_rewards=True)
    run(ppo, 1)
    assert ppo.state_dict()["reward_scaling"]
    ppo.start_new_episodes()
    assert not ppo.state_dict()["reward_scaling"]


class Idle(Algorithm):
    """The least that a user's own algorithm needs."""

    def update(self, fragments: list[Fragment], progress: float) -> dict[str, float]:
        return {}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


def test_an_algorithm_of_the_users_own_needs_three_methods():
    policy = create_policy()
    idle = Idle(policy, AlgorithmConfig(name="idle"), seed=0)
    idle.start_new_episodes()
    assert idle.policy is policy
    assert idle.update([], 0.0) == {}
