from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from rlightning.env.space_kind import SpaceKind


def _box(*shape: int, high: float = 1.0, dtype: type = np.float32) -> Box:
    return Box(0, high, shape=shape, dtype=dtype)


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        (SpaceKind(_box(4), Discrete(2)), "box_4-discrete_2-"),
        (SpaceKind(_box(84, 84, 4), MultiDiscrete([3, 2])), "box_84x84x4-multidiscrete_3x2-"),
        (SpaceKind(_box(3), _box(1)), "box_3-box_1-"),
    ],
)
def test_the_name_says_shapes_and_can_stand_in_a_file_name(kind: SpaceKind, start: str) -> None:
    assert kind.name.startswith(start)
    assert kind.name.replace("-", "").replace("_", "").isalnum()


def test_the_name_is_the_same_in_every_process() -> None:
    assert SpaceKind(_box(4), Discrete(2)).name == "box_4-discrete_2-8d442a6f"


def test_equal_spaces_are_one_kind() -> None:
    first, second = (SpaceKind(_box(4), Discrete(2)) for _ in range(2))
    assert first == second
    assert len({first, second}) == 1
    assert first.name == second.name


@pytest.mark.parametrize(
    "other",
    [
        SpaceKind(_box(4, high=2.0), Discrete(2)),
        SpaceKind(_box(4), Discrete(3)),
        SpaceKind(_box(4, dtype=np.uint8), Discrete(2)),
        SpaceKind(_box(4), _box(2)),
    ],
)
def test_kinds_that_differ_in_shape_bounds_or_type_have_different_names(other: SpaceKind) -> None:
    kind = SpaceKind(_box(4), Discrete(2))
    assert kind != other
    assert kind.name != other.name


def test_actions_that_differ_in_their_bounds_are_different_kinds() -> None:
    narrow, wide = (SpaceKind(_box(4), _box(2, high=high)) for high in (1.0, 2.0))
    assert narrow.name != wide.name
