"""Networks for vectors and images, by name, by registration and by import path."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn

from rlightning.config.policy_config import PolicyConfig
from rlightning.errors import ConfigError, SpaceError
from rlightning.policy.networks import (
    create_network,
    is_image,
    orthogonal,
    register_network,
)


def vectors(*shape: int) -> Box:
    return Box(-1.0, 1.0, shape, np.float32)


def images(*shape: int) -> Box:
    return Box(0, 255, shape, np.uint8)


def features(space: Box, **settings: object) -> torch.Tensor:
    network = create_network(space, PolicyConfig.model_validate(settings))
    return network(torch.from_numpy(np.stack([space.sample(), space.sample()])))


class Doubling(nn.Module):
    """A user's own network, which reads its settings from `kwargs`."""

    def __init__(self, observation_space: Box, config: PolicyConfig) -> None:
        super().__init__()
        self.linear = nn.Linear(observation_space.shape[0], config.kwargs["width"])

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.linear(observation) * 2.0


@pytest.mark.parametrize("space", [vectors(4), vectors(3, 2), images(128)])
def test_vectors_go_through_fully_connected_layers(space):
    assert features(space, hidden_sizes=[32, 16]).shape == (2, 16)


@pytest.mark.parametrize(
    "shape", [(84, 84, 4), (4, 84, 84), (36, 36, 3), (96, 96), (210, 160, 3), (1, 64, 64)]
)
def test_images_of_at_least_36_pixels_go_through_the_large_convolutions(shape):
    assert features(images(*shape)).shape == (2, 512)


@pytest.mark.parametrize("shape", [(10, 10, 4), (7, 7, 3), (35, 35, 1), (5, 5), (4, 9, 9)])
def test_small_images_go_through_the_small_convolutions(shape):
    assert features(images(*shape)).shape == (2, 128)


def test_channels_may_come_first_or_last():
    torch.manual_seed(0)
    first = create_network(images(3, 40, 40), PolicyConfig())
    torch.manual_seed(0)
    last = create_network(images(40, 40, 3), PolicyConfig())
    image = torch.randint(0, 256, (2, 40, 40, 3), dtype=torch.uint8)
    torch.testing.assert_close(first(image.permute(0, 3, 1, 2)), last(image))


def test_pixels_are_scaled_to_the_unit_interval():
    network = create_network(images(40, 40, 3), PolicyConfig())
    assert float(network[0](torch.full((1, 40, 40, 3), 255, dtype=torch.uint8)).max()) == 1.0
    flat = create_network(images(8), PolicyConfig())
    assert float(flat[0](torch.full((1, 8), 255, dtype=torch.uint8)).max()) == 1.0


def test_auto_takes_images_by_type_and_axes():
    assert is_image(images(84, 84))
    assert not is_image(images(128))
    assert not is_image(vectors(84, 84, 3))


def test_hidden_weights_are_orthogonal_with_gain_root_two():
    network = create_network(vectors(8), PolicyConfig(hidden_sizes=(8,)))
    weight = network[0].weight.detach()
    torch.testing.assert_close(weight @ weight.T, 2.0 * torch.eye(8), atol=1e-5, rtol=0.0)
    assert not network[0].bias.detach().any()


def test_a_layer_without_bias_is_initialised_too():
    layer = orthogonal(nn.Linear(4, 4, bias=False), gain=3.0)
    weight = layer.weight.detach()
    torch.testing.assert_close(weight @ weight.T, 9.0 * torch.eye(4), atol=1e-4, rtol=0.0)


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "gelu", "silu"])
def test_every_activation_can_be_chosen(activation):
    assert torch.isfinite(features(vectors(4), activation=activation)).all()


def test_a_network_is_found_by_import_path():
    path = "rlightning.policy.networks:create_mlp"
    assert features(vectors(3), network=path, hidden_sizes=[7]).shape == (2, 7)


def test_a_network_of_the_users_own_is_found_by_its_name_and_reads_its_settings():
    register_network("doubling", Doubling)
    settings = {"network": "doubling", "kwargs": {"width": 5}}
    assert features(vectors(3), **settings).shape == (2, 5)
    with pytest.raises(ConfigError, match="registered already"):
        register_network("doubling", Doubling)


def test_an_unknown_network_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown network 'mpl' \(did you mean 'mlp'\?\)"):
        features(vectors(3), network="mpl")


def test_a_space_without_a_network_says_what_is_supported():
    with pytest.raises(SpaceError, match="no network for observation space Discrete.*Box"):
        create_network(Discrete(3), PolicyConfig())


def test_convolutions_refuse_vectors():
    with pytest.raises(SpaceError, match=r"cnn expects images .* got \(4,\); set policy.network"):
        features(vectors(4), network="cnn")
