"""One policy for every kind of action, with or without a shared trunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete
from torch import nn

from rlightning.config.policy_config import PolicyConfig
from rlightning.env.action_noise import draw_noise
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import ConfigError, SpaceError
from rlightning.policy.actor_critic import ActorCritic, create_actor_critic
from rlightning.policy.networks import NETWORKS, register_network

VECTORS = Box(-1.0, 1.0, (3,), np.float32)
ACTION_SPACES = [Discrete(4), MultiDiscrete([2, 3]), Box(-1.0, 1.0, (2,), np.float32)]


def create(action_space: Any = ACTION_SPACES[0], seed: int = 0, **settings: Any) -> ActorCritic:
    kind = SpaceKind(VECTORS, action_space)
    return create_actor_critic(kind, PolicyConfig.model_validate(settings), seed)


def request(policy: ActorCritic, num_rows: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    generator = np.random.default_rng(0)
    observation = generator.standard_normal((num_rows, 3), dtype=np.float32)
    noise = draw_noise(generator, policy.kind.action_space, (num_rows,))
    return torch.from_numpy(observation), torch.from_numpy(noise)


def weights(policy: nn.Module) -> list[torch.Tensor]:
    return list(policy.state_dict().values())


def are_equal(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("action_space", ACTION_SPACES)
@pytest.mark.parametrize("share_trunk", [False, True])
@pytest.mark.parametrize("normalize_observations", [False, True])
def test_actions_have_the_shape_of_the_space_and_their_own_log_probability(
    action_space, share_trunk, normalize_observations
):
    policy = create(
        action_space, share_trunk=share_trunk, normalize_observations=normalize_observations
    )
    observation, noise = request(policy)
    output = policy.act(observation, noise)
    judged = policy.evaluate_actions(observation, output.action)
    assert output.action.shape == (6, *action_space.shape)
    assert output.action.detach().numpy().dtype == action_space.dtype
    assert output.log_prob.shape == output.value.shape == judged.entropy.shape == (6,)
    assert torch.equal(output.log_prob, judged.log_prob)
    assert torch.equal(output.value, judged.value)
    assert torch.equal(output.value, policy.value(observation))


@pytest.mark.parametrize("action_space", ACTION_SPACES)
def test_deterministic_actions_leave_the_noise_aside(action_space):
    policy = create(action_space)
    observation, noise = request(policy)
    first = policy.act(observation, noise, deterministic=True)
    second = policy.act(observation, noise.flip(0), deterministic=True)
    assert torch.equal(first.action, second.action)


@pytest.mark.parametrize("action_space", ACTION_SPACES)
def test_a_row_is_answered_alike_alone_and_among_others(action_space):
    policy = create(action_space)
    observation, noise = request(policy, num_rows=50)
    together = policy.act(observation, noise)
    for row in range(0, 50, 7):
        alone = policy.act(observation[row : row + 1], noise[row : row + 1])
        for one, many in zip(alone, together, strict=True):
            torch.testing.assert_close(one[0], many[row], atol=1e-5, rtol=1e-5)


def test_log_probabilities_are_of_the_action_beyond_the_bounds():
    policy = create(ACTION_SPACES[2], initial_log_std=3.0)
    observation, noise = request(policy)
    action = policy.act(observation, noise).action.detach()
    assert float(action.abs().max()) > 1.0
    clipped = policy.evaluate_actions(observation, action.clamp(-1, 1)).log_prob
    assert not torch.equal(clipped, policy.evaluate_actions(observation, action).log_prob)


def test_equal_seeds_give_equal_weights_and_the_global_random_state_does_not_matter():
    torch.manual_seed(1)
    first, state = create(seed=7), torch.get_rng_state()
    torch.manual_seed(1)
    assert torch.equal(state, torch.get_rng_state())
    torch.manual_seed(2)
    assert are_equal(weights(first), weights(create(seed=7)))
    assert not are_equal(weights(first), weights(create(seed=8)))


def test_a_new_policy_is_nearly_undecided():
    policy = create(Discrete(4))
    observation, noise = request(policy)
    entropy = policy.evaluate_actions(observation, policy.act(observation, noise).action).entropy
    torch.testing.assert_close(entropy, torch.full((6,), 4.0).log(), atol=1e-3, rtol=0.0)


def test_a_shared_trunk_has_one_network_and_learns_from_both_heads():
    separate, shared = create(), create(share_trunk=True)
    assert len(weights(shared)) < len(weights(separate))
    observation, _ = request(shared)
    shared.value(observation).sum().backward()
    assert all(part.grad is not None for part in shared.actor_network.parameters())


def test_observations_are_normalised_by_what_was_seen():
    policy = create(normalize_observations=True)
    observation, _ = request(policy, num_rows=1000)
    before = policy.value(observation)
    shifted = observation * 5.0 + 100.0
    policy.update_statistics(shifted)
    after = policy.value(shifted)
    standardised = (observation - observation.mean(0)) / observation.std(0, correction=0)
    policy.normalizer = None
    torch.testing.assert_close(after, policy.value(standardised), atol=1e-4, rtol=0.0)
    assert not torch.equal(before, after)


def test_without_normalisation_statistics_change_nothing():
    policy = create()
    observation, _ = request(policy)
    before = [part.clone() for part in weights(policy)]
    policy.update_statistics(observation)
    assert are_equal(before, weights(policy))


def test_images_are_not_normalised_twice():
    kind = SpaceKind(Box(0, 255, (10, 10, 3), np.uint8), Discrete(2))
    with pytest.raises(SpaceError, match="policy.normalize_observations=false"):
        create_actor_critic(kind, PolicyConfig(normalize_observations=True), 0)


def test_images_are_answered():
    kind = SpaceKind(Box(0, 255, (10, 10, 3), np.uint8), Discrete(2))
    policy = create_actor_critic(kind, PolicyConfig(), 0)
    image = torch.zeros((5, 10, 10, 3), dtype=torch.uint8)
    assert policy.act(image, torch.zeros(5, 1)).action.shape == (5,)


@pytest.mark.parametrize("space", [MultiBinary(3), MultiDiscrete([[2, 2]]), Box(0, 1, (2, 2))])
def test_an_action_space_without_a_distribution_says_what_is_supported(space):
    with pytest.raises(SpaceError, match="no distribution for action space.*Discrete, and Multi"):
        create(space)


@pytest.mark.parametrize(
    ("name", "network", "got"),
    [
        ("keeps_axes", lambda space, config: nn.Unflatten(1, (3, 1)), r"\(1, 3, 1\)"),
        ("answers_two", lambda space, config: nn.GRU(3, 5), "tuple"),
    ],
)
def test_a_network_that_answers_in_another_shape_is_refused(name, network, got):
    if name not in NETWORKS.names():
        register_network(name, network)
    with pytest.raises(ConfigError, match=rf"expected network '{name}' to map .* got {got}"):
        create(network=name)
