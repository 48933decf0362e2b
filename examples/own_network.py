"""Train with a network of your own: a callable from observation space and settings to a module.

On the command line, from this folder:

    rlightning train cartpole-ppo policy.network=own_network:create_residual_network
"""

from __future__ import annotations

import math

from gymnasium.spaces import Box
from torch import Tensor, nn

import rlightning
from rlightning.config.policy_config import PolicyConfig


class Residual(nn.Module):
    """Adds what two layers make of the features to the features."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, features: Tensor) -> Tensor:
        """Shape: (B, width) to (B, width)."""
        changed: Tensor = features + self.layers(features)
        return changed


def create_residual_network(observation_space: Box, config: PolicyConfig) -> nn.Module:
    """Return a network from observations (B, *shape) to features (B, width)."""
    width = int(config.kwargs.get("width", 32))
    first = nn.Linear(math.prod(observation_space.shape), width)
    return nn.Sequential(nn.Flatten(), first, Residual(width), nn.Tanh())


if __name__ == "__main__":
    rlightning.register_network("residual", create_residual_network)
    settings = ["name=cartpole-residual", "policy.network=residual", "policy.kwargs.width=48"]
    result = rlightning.train("cartpole-ppo", [*settings, "engine.total_env_steps=4_000"])
    print(f"mean return {rlightning.evaluate(result.run_folder, episodes=20).mean_return}")
