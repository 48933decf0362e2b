"""Small records as bytes, on their way between workers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from rlightning.runtime.ray.packing import ALIGNMENT, MAX_PACKED_BYTES, packed, unpacked
from rlightning.types import ActionBatch, ObservationBatch

ARRAYS = arrays_of.arrays(
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
    arrays_of.array_shapes(min_dims=1, max_dims=3, max_side=5),
)


def assert_same(first: np.ndarray, second: np.ndarray) -> None:
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    assert first.tobytes() == second.tobytes()


@given(ARRAYS, ARRAYS)
def test_a_small_record_comes_back_bit_for_bit(observation, noise) -> None:
    sent = packed(ObservationBatch("env-0", observation, noise))
    assert type(sent) is bytes
    received = unpacked(sent)
    assert type(received) is ObservationBatch
    assert received.env_id == "env-0"
    assert_same(received.observation, observation)
    assert_same(received.noise, noise)


@given(ARRAYS)
def test_every_array_begins_where_it_can_be_computed_with(values) -> None:
    answer = ActionBatch("env-0", values, values[:1], values, 3, "eval-1")
    received = unpacked(packed(answer))
    for array in (received.action, received.log_prob, received.value):
        assert array.ctypes.data % min(ALIGNMENT, array.itemsize) == 0
        assert array.flags.aligned
    assert (received.policy_version, received.replica_id) == (3, "eval-1")


def test_a_part_of_an_array_travels_without_the_rest() -> None:
    column = np.zeros((64, 4), np.float32)[:, 0]
    assert len(packed(ActionBatch("env-0", column, column, column, 0, "eval-0"))) < 2_000


def test_a_large_record_is_left_as_it_is() -> None:
    large = ObservationBatch("env-0", np.zeros(MAX_PACKED_BYTES, np.uint8), np.zeros(1, np.float32))
    assert packed(large) is large
    assert unpacked(large) is large


@pytest.mark.parametrize("value", [None, 3, "text", b"bytes", b"", [1, 2], {"a": 1}])
def test_anything_else_is_left_as_it_is(value) -> None:
    assert packed(value) is value
    assert unpacked(value) is value
