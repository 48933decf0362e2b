from __future__ import annotations

import numpy as np
import pytest

from rlightning.env.finite import is_finite, refuse_not_finite
from rlightning.errors import EnvironmentFailedError


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_element_anywhere_is_found(dtype, bad) -> None:
    for position in range(6):
        values = np.ones((2, 3), dtype=dtype)
        assert is_finite(values)
        values.flat[position] = bad
        assert not is_finite(values)


def test_large_finite_numbers_are_finite() -> None:
    assert is_finite(np.full((4, 4), 3e38, dtype=np.float32))
    assert is_finite(np.full((4, 4), -3e38))
    assert is_finite(np.full(4, 60_000.0, dtype=np.float16))


def test_numbers_beyond_float32_count_as_infinite() -> None:
    assert not is_finite(np.array([0.0, 1e39]))


def test_integers_and_nothing_at_all_are_finite() -> None:
    assert is_finite(np.array([2**62, -5]))
    assert is_finite(np.zeros((2, 2), dtype=np.uint8))
    assert is_finite(np.zeros((0, 3), dtype=np.float32))


def test_a_view_with_gaps_is_checked_too() -> None:
    values = np.zeros((4, 4), dtype=np.float32)
    values[:, 1] = np.nan
    assert is_finite(values[:, ::2])
    assert not is_finite(values[:, 1::2])


def test_the_first_bad_sub_environment_is_named() -> None:
    values = np.zeros((4, 2), dtype=np.float32)
    refuse_not_finite("observation", values)
    values[2, 1] = np.inf
    with pytest.raises(
        EnvironmentFailedError, match=r"finite observation, got \[ 0. inf\] in sub-e"
    ):
        refuse_not_finite("observation", values)
    with pytest.raises(EnvironmentFailedError, match="got nan in sub-environment 1;"):
        refuse_not_finite("reward", np.array([0.0, np.nan, np.nan]))
