"""A training that produces NaN stops at once and says in which quantity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

from rlightning.algorithm.finite_checks import check_weights
from rlightning.algorithm.ppo import PPO
from rlightning.algorithm.step_log import StepLog, StepMeasures
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.ppo_config import PPOConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import NotFiniteError
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.testing.random_fragments import RandomFragments
from rlightning.types import Fragment

KIND = SpaceKind(Box(-1.0, 1.0, (3,), np.float32), Discrete(2))
NAN, INFINITY = float("nan"), float("inf")


def create(**settings: Any) -> PPO:
    policy = create_actor_critic(KIND, PolicyConfig(), 0)
    return PPO(policy, PPOConfig.model_validate({"minibatch_size": 16, **settings}), seed=0)


def spoiled(fragment: Fragment, name: str, number: float) -> Fragment:
    array = getattr(fragment, name).copy()
    array.reshape(-1)[-1] = number
    return replace(fragment, **{name: array})


@pytest.mark.parametrize("number", [NAN, INFINITY, -INFINITY])
@pytest.mark.parametrize(
    ("field", "quantity"),
    [
        ("observation", "observation"),
        ("last_observation", "observation"),
        ("final_observation", "observation"),
        ("reward", "reward"),
        ("value", "value"),
    ],
)
def test_a_fragment_with_nan_is_refused_by_name_and_worker(field, quantity, number):
    ppo = create()
    fragments = RandomFragments(end_probability=0.2)
    good, bad = (fragments.collect(ppo.policy, seed, f"env-{seed}") for seed in range(2))
    before = {name: part.clone() for name, part in ppo.policy.state_dict().items()}
    with pytest.raises(NotFiniteError, match=rf"NaN or infinity in the {quantity} of env-1"):
        ppo.update([good, spoiled(bad, field, number)], 0.0)
    assert all(torch.equal(before[name], part) for name, part in ppo.policy.state_dict().items())


def test_nan_in_a_row_spent_on_a_reset_stops_nothing():
    ppo = create()
    fragment = RandomFragments().collect(ppo.policy)
    valid = fragment.valid.copy()
    valid[-1, -1] = False
    fragment = replace(spoiled(spoiled(fragment, "reward", NAN), "observation", NAN), valid=valid)
    assert np.isfinite(ppo.update([fragment], 0.0)["policy_loss"])


@pytest.mark.parametrize("number", [NAN, INFINITY])
def test_values_after_the_end_that_are_not_finite_are_named(number):
    ppo = create()
    fragment = RandomFragments().collect(ppo.policy)
    with torch.no_grad():
        ppo.policy.value_head.bias.fill_(number)
    with pytest.raises(NotFiniteError, match="in the value of env-0"):
        ppo.update([fragment], 0.0)


def test_rewards_whose_sum_is_too_large_show_in_the_advantage():
    ppo = create()
    fragment = RandomFragments(end_probability=0.0).collect(ppo.policy)
    huge = np.full_like(fragment.reward, 3e38)
    with pytest.raises(NotFiniteError, match="in the advantage of env-0"):
        ppo.update([replace(fragment, reward=huge)], 0.0)


def test_a_policy_that_answers_nan_shows_in_the_policy_loss():
    ppo = create()
    fragment = RandomFragments().collect(ppo.policy)
    with torch.no_grad():
        ppo.policy.action_head.linear.bias.fill_(NAN)
    message = "in the policy_loss at minibatch 1 of epoch 1; training stops here"
    with pytest.raises(NotFiniteError, match=message):
        ppo.update([fragment], 0.0)


def test_values_that_cannot_be_squared_show_in_the_value_loss():
    ppo = create()
    fragment = RandomFragments(end_probability=0.0).collect(ppo.policy)
    huge = np.full_like(fragment.reward, 1e25)
    with pytest.raises(NotFiniteError, match="in the value_loss at minibatch 1 of epoch 1"):
        ppo.update([replace(fragment, reward=huge)], 0.0)


def test_a_learning_rate_that_breaks_the_weights_is_noticed_before_they_leave():
    ppo = create(learning_rate=1e39, num_epochs=1, minibatch_size=1000)
    fragment = RandomFragments().collect(ppo.policy)
    with pytest.raises(NotFiniteError, match="in the weights after the update"):
        ppo.update([fragment], 0.0)


def measures(**numbers: float) -> StepMeasures:
    values = {"policy_loss": 1.0, "value_loss": 2.0, "entropy": 3.0, "gradient": 4.0, **numbers}
    return StepMeasures(**{name: torch.tensor(value) for name, value in values.items()})


@pytest.mark.parametrize("name", ["policy_loss", "value_loss", "entropy", "gradient"])
@pytest.mark.parametrize("number", [NAN, INFINITY])
def test_the_first_broken_quantity_of_an_epoch_is_named(name, number):
    log = StepLog(clip_range=0.2)
    log.add(measures(), torch.zeros(3))
    log.close_epoch()
    log.add(measures(), torch.zeros(3))
    log.add(measures(**{name: number}), torch.zeros(3))
    log.add(measures(policy_loss=NAN, gradient=NAN), torch.full((3,), NAN))
    with pytest.raises(NotFiniteError, match=f"in the {name} at minibatch 2 of epoch 2"):
        log.close_epoch()


def test_the_log_returns_means_over_all_gradient_steps():
    log = StepLog(clip_range=0.2)
    log.add(measures(), torch.zeros(3))
    log.add(measures(policy_loss=3.0), torch.zeros(2))
    assert log.close_epoch() == 0.0
    log.add(measures(policy_loss=5.0), torch.tensor([0.0, 0.0, 1.0, 1.0]))
    # ratio e: (e - 1) - 1 = 0.71828, for half of the steps
    assert log.close_epoch() == pytest.approx(0.71828 / 2, abs=1e-5)
    metrics = log.metrics()
    assert metrics["policy_loss"] == pytest.approx((2.0 + 5.0) / 2)
    assert metrics["clip_fraction"] == pytest.approx(0.25)
    assert metrics["gradient_norm"] == 4.0


def test_weights_that_are_not_finite_are_refused():
    check_weights(torch.ones(3))
    with pytest.raises(NotFiniteError, match="in the weights after the update"):
        check_weights(torch.tensor([1.0, NAN]))
