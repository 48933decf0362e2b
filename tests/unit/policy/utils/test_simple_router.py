from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rlightning.errors import RoutingError
from rlightning.policy.utils.router import SimpleRouter


def test_tasks_go_level_by_level_and_index_by_index() -> None:
    # Levels: 0 takes policy 1; then 1 holds policies 1 and 2; then 2 holds all three.
    assert SimpleRouter().assign([2, 0, 1], 7) == [1, 1, 2, 0, 1, 2, 0]


def test_the_loads_stay_as_they_were() -> None:
    loads = [3, 0]
    SimpleRouter().assign(loads, 5)
    assert loads == [3, 0]


def test_nothing_to_assign_is_an_empty_list() -> None:
    assert SimpleRouter().assign([], 0) == []
    assert SimpleRouter().assign([1, 2], 0, []) == []


def test_tasks_without_policies_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one policy"):
        SimpleRouter().assign([], 1)


@pytest.mark.parametrize(
    "loads",
    [
        (1, 0),
        np.array([1, 0]),
        np.array([1.0, 0.0], dtype=np.float16),
        np.array([1, 0], dtype=object),
        np.array([1, 0], dtype=np.uint8),
        [1.0, -0.0],
        [np.int8(1), np.float32(0)],
        [10**40 + 1, 10**40],
        [1e300, 0],
    ],
    ids=repr,
)
def test_whole_numbers_of_every_kind_are_loads(loads: Any) -> None:
    answer = SimpleRouter().assign(loads, 1)
    assert answer == [1]
    assert type(answer[0]) is int


@pytest.mark.parametrize(
    "loads",
    [
        [0, -1],
        [0, 0.5],
        [0, float("nan")],
        [0, float("inf")],
        [0, np.float16("inf")],
        [0, True],
        [0, np.True_],
        [0, "1"],
        [0, None],
        [0, 1j],
        [0, Fraction(1)],
        [0, [1]],
        [0, np.timedelta64(1, "s")],
    ],
    ids=repr,
)
def test_a_load_that_is_no_whole_number_is_refused_with_its_position(loads: Any) -> None:
    with pytest.raises(ValueError, match="at position 1") as caught:
        SimpleRouter().assign(loads, 1)
    assert isinstance(caught.value, RoutingError)


@pytest.mark.parametrize(
    "loads",
    [
        None,
        3,
        "00",
        {0: 1},
        {0},
        pytest.param(iter([0]), id="iterator"),
        range(3),
        np.zeros((1, 2)),
        np.array(0),
        np.array([True]),
        np.array(["1"]),
        np.array([1], dtype="m8[s]"),
    ],
    ids=repr,
)
def test_another_container_of_loads_is_refused(loads: Any) -> None:
    with pytest.raises(ValueError, match="expected current_loads"):
        SimpleRouter().assign(loads, 1)


@pytest.mark.parametrize(
    "num_tasks", [True, 1.0, "1", None, np.float64(1), np.True_, [1]], ids=repr
)
def test_a_number_of_tasks_that_is_no_integer_is_refused(num_tasks: Any) -> None:
    with pytest.raises(TypeError, match="num_tasks as an integer") as caught:
        SimpleRouter().assign([0], num_tasks)
    assert isinstance(caught.value, RoutingError)


def test_a_negative_number_of_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match="got -1"):
        SimpleRouter().assign([0], -1)


def test_a_numpy_integer_counts_tasks() -> None:
    assert SimpleRouter().assign([0, 0], np.int16(3)) == [0, 1, 0]  # type: ignore[arg-type]


def test_env_ids_are_counted_and_their_content_ignored() -> None:
    router = SimpleRouter()
    assert router.assign([0, 0], 2, ["nonsense", ""]) == [0, 1]
    with pytest.raises(ValueError, match="each of 2 tasks, got 3 env ids"):
        router.assign([0, 0], 2, ["a", "b", "c"])
    with pytest.raises(TypeError, match="sequence of strings"):
        router.assign([0, 0], 2, "ab")


def test_nothing_is_counted_when_a_call_is_refused() -> None:
    router = SimpleRouter(tie_break="rotating")
    with pytest.raises(ValueError, match="expected"):
        router.assign([0, -1], 1)
    with pytest.raises(ValueError, match="expected"):
        router.assign([], 1)
    assert router.decision_counts["balanced"] == 0
    assert router.assign([0, 0], 1) == [0]


def test_the_counts_are_fresh_and_hold_every_reason() -> None:
    router = SimpleRouter()
    router.assign([0, 0], 3)
    router.decision_counts["balanced"] = 99
    assert router.decision_counts == {
        "local": 0,
        "spilled": 0,
        "unknown_env": 0,
        "node_without_policy": 0,
        "balanced": 3,
    }
    assert "'balanced': 3" in repr(router)


def test_a_rotation_begins_one_further_with_every_task() -> None:
    router = SimpleRouter(tie_break="rotating")
    assert router.assign([0, 0, 0], 2) == [0, 1]
    assert router.assign([0, 0, 0], 2) == [2, 0]
    assert router.assign([0, 5, 0], 1) == [2]
    assert "rotating" in repr(router)


def test_the_seed_says_where_a_rotation_begins() -> None:
    first = Counter(
        SimpleRouter(tie_break="rotating", start_offset_seed=seed).assign([0] * 4, 1)[0]
        for seed in range(100)
    )
    assert set(first) == {0, 1, 2, 3}
    assert max(first.values()) <= 28


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"tie_break": "rotate"}, ValueError, "did you mean 'rotating'"),
        ({"tie_break": None}, ValueError, "got None"),
        ({"start_offset_seed": 1}, ValueError, "set tie_break='rotating'"),
        ({"tie_break": "rotating", "start_offset_seed": 1.0}, TypeError, "got 1.0"),
        ({"tie_break": "rotating", "start_offset_seed": True}, TypeError, "got True"),
    ],
)
def test_an_option_that_is_not_allowed_is_refused(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        SimpleRouter(**options)
