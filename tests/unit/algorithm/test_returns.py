"""Step sequences refuse shapes that do not agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlightning.algorithm.returns import StepSequence
from rlightning.errors import ShapeError

SHAPE = (3, 2)
STEPS = StepSequence(
    reward=np.zeros(SHAPE),
    value=np.zeros(SHAPE),
    terminated=np.zeros(SHAPE, bool),
    truncated=np.zeros(SHAPE, bool),
    valid=np.ones(SHAPE, bool),
    final_value=np.zeros(SHAPE),
    last_value=np.zeros(2),
)


def test_rewards_need_two_axes():
    with pytest.raises(ShapeError, match=r"rewards of shape \(T, B\), got \(3,\)"):
        replace(STEPS, reward=np.zeros(3))


@pytest.mark.parametrize("name", ["value", "terminated", "truncated", "valid", "final_value"])
def test_a_field_of_another_shape_is_named(name):
    with pytest.raises(ShapeError, match=rf"expected {name} of shape \(3, 2\).*got \(2, 3\)"):
        replace(STEPS, **{name: np.zeros((2, 3))})


def test_the_last_values_need_one_number_per_environment():
    with pytest.raises(ShapeError, match=r"expected last_value of shape \(2,\).*got \(3, 2\)"):
        replace(STEPS, last_value=np.zeros(SHAPE))
