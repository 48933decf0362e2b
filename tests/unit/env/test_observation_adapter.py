from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    MultiBinary,
    MultiDiscrete,
    OneOf,
    Sequence,
    Text,
    Tuple,
)
from gymnasium.spaces.utils import flatten, flatten_space
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from hypothesis import given
from hypothesis import strategies as st

from rlightning.env.observation_adapter import create_observation_adapter
from rlightning.errors import ShapeError, SpaceError

LEAVES = [
    Box(-2.0, 3.0, shape=(3,), dtype=np.float32),
    Box(-2.0, 3.0, shape=(2, 2), dtype=np.float64),
    Box(0, 255, shape=(2,), dtype=np.uint8),
    Box(-1.0, 1.0, shape=(), dtype=np.float32),
    Discrete(4, start=-1),
    MultiDiscrete([2, 3], start=[5, -5]),
    MultiDiscrete([[2, 3], [4, 1]]),
    MultiBinary(3),
    MultiBinary((2, 2)),
]
leaf_spaces = st.sampled_from(LEAVES)
composite_spaces = st.recursive(
    leaf_spaces,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3).map(Dict),
        st.lists(inner, min_size=1, max_size=3).map(Tuple),
    ),
    max_leaves=5,
).filter(lambda space: not (isinstance(space, Box) and space.shape))


@given(space=composite_spaces, seed=st.integers(0, 99), num_envs=st.integers(1, 4))
def test_a_batch_is_flattened_as_gymnasium_flattens_each(space, seed, num_envs) -> None:
    space.seed(seed)
    samples = [space.sample() for _ in range(num_envs)]
    batch = concatenate(space, samples, create_empty_array(space, num_envs))
    adapter = create_observation_adapter(space, flatten=True)

    out = np.full((num_envs, *adapter.space.shape), np.nan, dtype=np.float32)
    adapter.write(batch, out)

    expected = [flatten(space, sample).astype(np.float32) for sample in samples]
    np.testing.assert_array_equal(out, expected)
    flat = flatten_space(space)
    assert adapter.space == Box(
        flat.low.astype(np.float32), flat.high.astype(np.float32), dtype=np.float32
    )


def test_an_image_keeps_its_shape_and_stays_uint8() -> None:
    space = Box(0, 255, shape=(8, 8, 3), dtype=np.uint8)
    adapter = create_observation_adapter(space, flatten=True)
    batch = batch_space(space, 2).sample()
    out = np.zeros((2, 8, 8, 3), dtype=np.uint8)
    adapter.write(batch, out)
    assert adapter.space == space
    np.testing.assert_array_equal(out, batch)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64])
def test_every_other_type_becomes_float32(dtype) -> None:
    adapter = create_observation_adapter(Box(-5, 5, shape=(2,), dtype=dtype), flatten=False)
    out = np.zeros((1, 2), dtype=np.float32)
    adapter.write(np.array([[3, -4]], dtype=dtype), out)
    assert adapter.space == Box(-5.0, 5.0, shape=(2,), dtype=np.float32)
    assert out.tolist() == [[3.0, -4.0]]


def test_bounds_and_values_beyond_float32_become_infinite_without_a_warning() -> None:
    limit = np.finfo(np.float64).max
    adapter = create_observation_adapter(
        Box(-limit, limit, shape=(1,), dtype=np.float64), flatten=True
    )
    out = np.zeros((1, 1), dtype=np.float32)
    adapter.write(np.array([[1e300]]), out)
    assert adapter.space.high.tolist() == [np.inf]
    assert out.tolist() == [[np.inf]]


def test_what_was_written_does_not_change_with_the_environments_buffer() -> None:
    adapter = create_observation_adapter(LEAVES[0], flatten=True)
    buffer, out = np.ones((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.float32)
    adapter.write(buffer, out)
    buffer[:] = 7.0
    assert (out == 1.0).all()


@pytest.mark.parametrize(
    "space",
    [
        Text(5),
        Sequence(Discrete(2)),
        Graph(Box(0, 1, shape=(1,)), None),
        OneOf([Discrete(2), Discrete(3)]),
        Dict({}),
        Tuple([]),
    ],
)
def test_an_unsupported_space_is_refused_with_what_is_supported(space) -> None:
    with pytest.raises(
        SpaceError, match="expected an observation space of Box, Discrete"
    ) as caught:
        create_observation_adapter(space, flatten=True)
    assert str(space)[:50] in str(caught.value)


def test_an_unsupported_part_is_named_by_its_place() -> None:
    space = Dict({"sensors": Tuple([Discrete(2), Text(3)])})
    with pytest.raises(SpaceError, match="at 'sensors.1'"):
        create_observation_adapter(space, flatten=True)


@pytest.mark.parametrize("space", [LEAVES[3], Discrete(2), Dict({"a": LEAVES[0]}), MultiBinary(2)])
def test_nothing_is_flattened_where_that_was_ruled_out(space) -> None:
    with pytest.raises(SpaceError, match="flatten_observation is false"):
        create_observation_adapter(space, flatten=False)


def test_a_wrong_shape_is_refused_and_not_stretched() -> None:
    adapter = create_observation_adapter(LEAVES[0], flatten=True)
    for shape in [(3,), (1, 3), (2, 1), (2, 4), (2, 3, 1)]:
        with pytest.raises(ShapeError, match=r"shape \(2, 3\), got"):
            adapter.write(np.ones(shape), np.zeros((2, 3), dtype=np.float32))


def test_a_wrong_shape_of_a_part_is_named_by_its_place() -> None:
    adapter = create_observation_adapter(Dict({"a": Dict({"b": LEAVES[0]})}), flatten=True)
    with pytest.raises(ShapeError, match=r"\(2, 3\) at 'a.b', got \(2, 2\)"):
        adapter.write({"a": {"b": np.ones((2, 2))}}, np.zeros((2, 3), dtype=np.float32))


@pytest.mark.parametrize("value", [-2, 3])
def test_a_discrete_observation_out_of_range_is_refused(value) -> None:
    adapter = create_observation_adapter(Discrete(4, start=-1), flatten=True)
    with pytest.raises(SpaceError, match="expected an observation within"):
        adapter.write(np.array([0, value]), np.zeros((2, 4), dtype=np.float32))
