"""Two states are the same only bit for bit."""

from __future__ import annotations

import pytest
import torch

from rlightning.testing.state_differences import state_differences

STATE = {"weights": torch.ones(2), "steps": [1, {"rate": 0.5}], "name": "a", "nothing": None}


def test_equal_states_have_no_differences():
    same = {"weights": torch.ones(2), "steps": [1, {"rate": 0.5}], "name": "a", "nothing": None}
    assert state_differences(STATE, same) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"weights": torch.tensor([1.0, 1.0000001])}, "state['weights']"),
        ({"weights": torch.ones(2, dtype=torch.float64)}, "state['weights']"),
        ({"weights": torch.ones(1, 2)}, "state['weights']"),
        ({"steps": [1, {"rate": 0.25}]}, "state['steps'][1]['rate']"),
        ({"steps": [1]}, "state['steps']"),
        ({"steps": (1, {"rate": 0.5})}, "state['steps']"),
        ({"name": None}, "state['name']"),
        ({"more": 1}, "state"),
    ],
)
def test_a_difference_is_named_by_its_place(change, place):
    assert state_differences(STATE, {**STATE, **change}) == [place]


def test_all_differences_are_named():
    assert state_differences([1, 2, 3], [1, 0, 0], "numbers") == ["numbers[1]", "numbers[2]"]


def test_not_a_number_is_the_same_as_itself_and_minus_zero_is_not_zero():
    assert state_differences([float("nan")], [float("nan")]) == []
    assert (
        state_differences({"w": torch.tensor([torch.nan])}, {"w": torch.tensor([torch.nan])}) == []
    )
    assert state_differences([0.0], [-0.0]) == ["state[0]"]
    assert state_differences([torch.zeros(1)], [-torch.zeros(1)]) == ["state[0]"]


def test_the_order_of_keys_counts():
    assert state_differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == ["state"]
