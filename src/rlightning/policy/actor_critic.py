"""The policy of actor-critic algorithms: features, a head for actions, a head for the value."""

from __future__ import annotations

import threading

import numpy as np
import torch
from gymnasium.spaces import Box
from torch import Tensor, nn

from rlightning.config.policy_config import PolicyConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import ConfigError, SpaceError
from rlightning.policy.action_heads import create_action_head
from rlightning.policy.base import ActionEvaluation, ActionOutput, Policy
from rlightning.policy.distributions import Distribution
from rlightning.policy.networks import create_network, is_image, orthogonal
from rlightning.policy.normalization import RunningNormalizer

_seeding = threading.Lock()


class ActorCritic(Policy):
    """Actor and critic, each with a network of its own or on one shared trunk.

    Args:
        kind: Spaces that the policy serves.
        config: Network, sharing, normalisation.

    Raises:
        SpaceError: If a space is not supported.
        ConfigError: If the network cannot be found, or its answer has another shape than (B, F).
    """

    def __init__(self, kind: SpaceKind, config: PolicyConfig) -> None:
        super().__init__(kind)
        space = kind.observation_space
        self.actor_network = create_network(space, config)
        self.normalizer = _create_normalizer(space, config)
        num_features = _num_features(self.actor_network, space, config)
        self.action_head = create_action_head(
            num_features, kind.action_space, config.initial_log_std
        )
        self.critic_network = None if config.share_trunk else create_network(space, config)
        self.value_head = orthogonal(nn.Linear(num_features, 1), gain=1.0)

    def act(self, observation: Tensor, noise: Tensor, deterministic: bool = False) -> ActionOutput:
        """Choose actions; see `Policy.act`."""
        distribution, value = self._distribution_and_value(observation)
        action = distribution.mode() if deterministic else distribution.sample(noise)
        return ActionOutput(action, distribution.log_prob(action), value)

    def evaluate_actions(self, observation: Tensor, action: Tensor) -> ActionEvaluation:
        """Judge given actions; see `Policy.evaluate_actions`."""
        distribution, value = self._distribution_and_value(observation)
        return ActionEvaluation(distribution.log_prob(action), distribution.entropy(), value)

    def value(self, observation: Tensor) -> Tensor:
        """Return the estimated return from observations. Shape: (B,)."""
        if self.normalizer is not None:
            observation = self.normalizer(observation)
        network = self.critic_network or self.actor_network
        value: Tensor = self.value_head(network(observation))
        return value.squeeze(-1)

    def update_statistics(self, observation: Tensor) -> None:
        """Take valid observations into the normaliser, where it is on."""
        if self.normalizer is not None:
            self.normalizer.update(observation)

    def _distribution_and_value(self, observation: Tensor) -> tuple[Distribution, Tensor]:
        if self.normalizer is not None:
            observation = self.normalizer(observation)
        features = self.actor_network(observation)
        distribution: Distribution = self.action_head(features)
        critic_features = features
        if self.critic_network is not None:
            critic_features = self.critic_network(observation)
        value: Tensor = self.value_head(critic_features)
        return distribution, value.squeeze(-1)


def create_actor_critic(kind: SpaceKind, config: PolicyConfig, seed: int) -> ActorCritic:
    """Return a new policy whose weights depend on the seed alone.

    The global random state is neither used nor changed. Thread-safe.

    Raises:
        SpaceError: If a space is not supported.
        ConfigError: If the network cannot be found or answers in another shape than (B, F).
    """
    with _seeding, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ActorCritic(kind, config)


def _create_normalizer(space: Box, config: PolicyConfig) -> RunningNormalizer | None:
    if not config.normalize_observations:
        return None
    if is_image(space):
        raise SpaceError(
            f"expected vectors for policy.normalize_observations=true, got images {space}; these "
            "are scaled to [0, 1] already, set policy.normalize_observations=false"
        )
    return RunningNormalizer(space.shape, config.observation_clip)


def _num_features(network: nn.Module, space: Box, config: PolicyConfig) -> int:
    """Ask the network with one observation of zeros how many features it has."""
    example = torch.from_numpy(np.zeros((1, *space.shape), dtype=space.dtype))
    with torch.no_grad():
        features = network(example)
    if not isinstance(features, Tensor) or features.ndim != 2 or features.shape[0] != 1:
        shape = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise ConfigError(
            f"expected network {config.network!r} to map observations of shape "
            f"{tuple(example.shape)} to features of shape (1, F), got {shape}; "
            "flatten all axes but the first"
        )
    return int(features.shape[1])
