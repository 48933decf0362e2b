from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from rlightning.env.action_noise import draw_noise, noise_size


@pytest.mark.parametrize(
    ("space", "size"),
    [(Discrete(7), 1), (MultiDiscrete([2, 3, 4]), 3), (Box(-1.0, 1.0, shape=(5,)), 5)],
)
def test_each_component_of_an_action_gets_one_number(space, size) -> None:
    noise = draw_noise(np.random.default_rng(0), space, (4, 6))
    assert noise_size(space) == size
    assert noise.shape == (4, 6, size)
    assert noise.dtype == np.float32


def test_discrete_actions_get_uniform_numbers_below_one() -> None:
    noise = draw_noise(np.random.default_rng(0), Discrete(2), (20_000,))
    assert noise.min() >= 0.0
    assert noise.max() < 1.0
    assert noise.mean() == pytest.approx(0.5, abs=0.01)
    assert noise.var() == pytest.approx(1 / 12, abs=0.005)


def test_box_actions_get_standard_normal_numbers() -> None:
    noise = draw_noise(np.random.default_rng(0), Box(-1.0, 1.0, shape=(2,)), (20_000,))
    assert noise.mean() == pytest.approx(0.0, abs=0.02)
    assert noise.std() == pytest.approx(1.0, abs=0.02)
    assert noise.min() < -2.0


def test_the_same_generator_state_gives_the_same_noise() -> None:
    first, second = (draw_noise(np.random.default_rng(5), Discrete(2), (8,)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
