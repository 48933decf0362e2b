"""Networks that turn observations into features, by name or import path."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from gymnasium.spaces import Box, Space
from torch import Tensor, nn

from rlightning.config.policy_config import PolicyConfig
from rlightning.errors import ConfigError, SpaceError
from rlightning.registry import Registry

NetworkFactory: TypeAlias = Callable[[Box, PolicyConfig], nn.Module]
"""Makes a module that maps observations to features. Shape: (B, *observation) to (B, F).

A user's own network is a class with this signature: `__init__(observation_space, config)`; it
reads its settings from `config.kwargs`. Observations arrive in the type of the space.
"""

NETWORKS: Registry[NetworkFactory] = Registry("network")

_ACTIVATIONS: dict[str, type[nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
}
_SMALLEST_SIDE_OF_NATURE_CNN = 36


def register_network(name: str, factory: NetworkFactory | str) -> None:
    """Let `policy.network` in a configuration mean this factory.

    Args:
        name: New name.
        factory: The factory, or ``"package.module:Name"``, imported when first used.

    Raises:
        ConfigError: If the name is taken.
    """
    NETWORKS.register(name, factory)


def create_network(observation_space: Space[Any], config: PolicyConfig) -> nn.Module:
    """Return a new network for the space, as `config.network` says.

    ``auto`` is ``cnn`` for images (uint8, two or three axes) and ``mlp`` for all others.

    Raises:
        SpaceError: If no network knows what to do with the space.
        ConfigError: If the name is unknown, or what it means makes nothing.
    """
    if not isinstance(observation_space, Box):
        raise SpaceError(
            f"no network for observation space {observation_space}; supported are Box spaces: "
            "vectors (mlp) and uint8 images of shape (H, W), (H, W, C) or (C, H, W) (cnn). "
            "Wrap the environment so that it shows one of these"
        )
    name = config.network
    if name == "auto":
        name = "cnn" if is_image(observation_space) else "mlp"
    return _factory(name)(observation_space, config)


def require_network(name: str) -> None:
    """Refuse a name that means no network.

    Raises:
        ConfigError: If the name is unknown, or what it means makes nothing.
    """
    if name != "auto":
        _factory(name)


def _factory(name: str) -> NetworkFactory:
    factory = NETWORKS.get(name)
    if not callable(factory):
        raise ConfigError(
            f"expected a class or function as network {name!r}, got {factory!r}; "
            "name what makes the network"
        )
    return factory


def is_image(space: Box) -> bool:
    """Return whether the space holds uint8 images."""
    return space.dtype == np.uint8 and len(space.shape) in (2, 3)


def create_mlp(observation_space: Box, config: PolicyConfig) -> nn.Module:
    """Return fully connected layers over the flattened observation.

    Source: Schulman et al. 2017, section 6.1; orthogonal weights as in Huang et al. 2022,
    detail 2.
    """
    layers: list[nn.Module] = []
    if observation_space.dtype != np.float32:
        layers.append(ToFloat(_scale(observation_space)))
    if len(observation_space.shape) != 1:
        layers.append(nn.Flatten())
    width = math.prod(observation_space.shape)
    for hidden_size in config.hidden_sizes:
        layers += [orthogonal(nn.Linear(width, hidden_size)), _ACTIVATIONS[config.activation]()]
        width = hidden_size
    return nn.Sequential(*layers)


def create_cnn(observation_space: Box, config: PolicyConfig) -> nn.Module:
    """Return convolutions over images, pixels scaled to [0, 1].

    Images with sides of at least 36 pixels get the network of Mnih et al. 2015, smaller ones
    that of Young and Tian 2019 (MinAtar).

    Raises:
        SpaceError: If the space has another number of axes than an image.
    """
    del config
    shape = observation_space.shape
    if len(shape) not in (2, 3):
        raise SpaceError(
            f"network cnn expects images of shape (H, W), (H, W, C) or (C, H, W), got {shape}; "
            "set policy.network=mlp"
        )
    layout = ToChannelsFirst(shape, _scale(observation_space))
    with torch.no_grad():
        image = layout(torch.zeros(1, *shape))
        is_large = min(image.shape[2:]) >= _SMALLEST_SIDE_OF_NATURE_CNN
        convolutions = (_nature_layers if is_large else _small_layers)(image.shape[1])
        num_features = nn.Sequential(*convolutions, nn.Flatten())(image).shape[1]
    last = orthogonal(nn.Linear(num_features, 512 if is_large else 128))
    return nn.Sequential(layout, *convolutions, nn.Flatten(), last, nn.ReLU())


class ToFloat(nn.Module):
    """Turn integers or doubles into float32, times a scale."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def forward(self, observation: Tensor) -> Tensor:
        """Return the scaled observation. Shape: as given."""
        return observation.float() if self._scale == 1.0 else observation.float() * self._scale


class ToChannelsFirst(nn.Module):
    """Bring images to (B, C, H, W) in float32, times a scale.

    The axis of channels of a three-dimensional image is the first where it is the shortest,
    the last otherwise.
    """

    def __init__(self, shape: Sequence[int], scale: float) -> None:
        super().__init__()
        self._scale = scale
        self._has_channels = len(shape) == 3
        self._is_channels_first = self._has_channels and shape[0] < min(shape[1:])

    def forward(self, observation: Tensor) -> Tensor:
        """Return the images. Shape: (B, C, H, W)."""
        image = observation.float() * self._scale
        if not self._has_channels:
            return image.unsqueeze(1)
        return image if self._is_channels_first else image.permute(0, 3, 1, 2)


def orthogonal(layer: nn.Linear | nn.Conv2d, gain: float = math.sqrt(2.0)) -> nn.Module:
    """Return the layer with orthogonal weights and zero bias (Saxe et al. 2014)."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def _nature_layers(num_channels: int) -> list[nn.Module]:
    return [
        orthogonal(nn.Conv2d(num_channels, 32, 8, stride=4)),
        nn.ReLU(),
        orthogonal(nn.Conv2d(32, 64, 4, stride=2)),
        nn.ReLU(),
        orthogonal(nn.Conv2d(64, 64, 3)),
        nn.ReLU(),
    ]


def _small_layers(num_channels: int) -> list[nn.Module]:
    return [orthogonal(nn.Conv2d(num_channels, 16, 3, padding=1)), nn.ReLU()]


def _scale(space: Box) -> float:
    return 1.0 / 255.0 if space.dtype == np.uint8 else 1.0


NETWORKS.register("mlp", create_mlp)
NETWORKS.register("cnn", create_cnn)
