from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple

from rlightning.env.action_adapter import create_action_adapter
from rlightning.errors import NotFiniteError, SpaceError


def test_discrete_actions_count_from_the_start_of_the_space() -> None:
    adapter = create_action_adapter(Discrete(3, start=5))
    assert adapter.space == Discrete(3)
    assert adapter.to_env(np.array([0, 2, 1])).tolist() == [5, 7, 6]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_discrete_actions_have_the_type_of_the_space(dtype) -> None:
    for start in (0, 3):
        adapter = create_action_adapter(Discrete(3, start=start, dtype=dtype))
        assert adapter.to_env(np.array([0, 1])).dtype == dtype
        assert adapter.space.dtype == np.int64


def test_multi_discrete_actions_are_flat_for_the_policy_and_shaped_for_the_environment() -> None:
    space = MultiDiscrete([[2, 3], [4, 5]], start=[[0, 10], [20, 30]])
    adapter = create_action_adapter(space)
    assert adapter.space == MultiDiscrete([2, 3, 4, 5])
    shaped = adapter.to_env(np.array([[1, 2, 3, 4], [0, 0, 0, 0]]))
    assert shaped.tolist() == [[[1, 12], [23, 34]], [[0, 10], [20, 30]]]
    assert all(space.contains(action) for action in shaped)


@pytest.mark.parametrize("shape", [3, (2, 2)])
def test_binary_actions_are_discrete_ones_of_two(shape) -> None:
    space = MultiBinary(shape)
    adapter = create_action_adapter(space)
    size = int(np.prod(space.shape))
    assert adapter.space == MultiDiscrete([2] * size)
    shaped = adapter.to_env(np.ones((1, size), dtype=np.int64))
    assert space.contains(shaped[0])
    assert shaped.all()


def test_box_actions_are_clipped_in_a_copy() -> None:
    adapter = create_action_adapter(Box(np.float32([-1.0, 0.0]), np.float32([1.0, 2.0])))
    drawn = np.array([[-3.0, 3.0], [0.5, 0.5]], dtype=np.float32)
    assert adapter.to_env(drawn).tolist() == [[-1.0, 2.0], [0.5, 0.5]]
    assert drawn.tolist() == [[-3.0, 3.0], [0.5, 0.5]]


def test_box_actions_have_the_shape_and_type_of_the_space() -> None:
    space = Box(-1.0, 1.0, shape=(2, 2), dtype=np.float64)
    adapter = create_action_adapter(space)
    assert adapter.space == Box(-1.0, 1.0, shape=(4,), dtype=np.float32)
    assert space.contains(adapter.to_env(np.zeros((1, 4), dtype=np.float32))[0])


def test_box_actions_without_bounds_pass_unchanged() -> None:
    adapter = create_action_adapter(Box(-np.inf, np.inf, shape=(1,)))
    assert adapter.to_env(np.array([[1e6]], dtype=np.float32)).tolist() == [[1e6]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_box_actions_that_are_not_finite_are_the_policys_fault(bad) -> None:
    adapter = create_action_adapter(Box(-1.0, 1.0, shape=(1,)))
    with pytest.raises(NotFiniteError, match="the policy that drew them has diverged"):
        adapter.to_env(np.array([[0.0], [bad]], dtype=np.float32))


@pytest.mark.parametrize(
    "space",
    [
        Text(5),
        Dict({"a": Discrete(2)}),
        Tuple([Discrete(2)]),
        Box(0, 5, shape=(2,), dtype=np.int64),
        Box(0.0, 1.0, shape=(0,)),
    ],
)
def test_an_unsupported_space_is_refused_with_what_is_supported(space) -> None:
    with pytest.raises(SpaceError, match="expected an action space of Discrete") as caught:
        create_action_adapter(space)
    assert str(space) in str(caught.value)
