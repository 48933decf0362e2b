from __future__ import annotations

import pytest

from rlightning.dispatch.rotation import Rotation


def test_items_take_turns_and_keep_them_when_others_leave() -> None:
    items = [object() for _ in range(4)]
    rotation = Rotation(items)
    assert [rotation.next_item(), rotation.next_item()] == items[:2]
    rotation.remove(items[0])
    assert rotation.next_item() is items[2]
    rotation.remove(items[3])
    assert rotation.next_item() is items[1]


def test_an_item_that_is_not_there_cannot_leave() -> None:
    with pytest.raises(ValueError, match="expected an item of the rotation"):
        Rotation([[]]).remove([])


def test_nobody_has_a_turn_where_there_is_nobody() -> None:
    with pytest.raises(IndexError):
        Rotation[str]([], start_seed=3).next_item()
