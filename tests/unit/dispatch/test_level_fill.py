from __future__ import annotations

from rlightning.dispatch.level_fill import level_fill


def test_levels_fill_from_the_lowest() -> None:
    # 1 1 4: two rounds of policies 0 and 1 up to level 3, a third up to 4, then everybody.
    assert level_fill([1, 1, 4], 9) == [0, 1, 0, 1, 0, 1, 0, 1, 2]


def test_only_the_seats_are_filled_and_by_their_own_loads() -> None:
    assert level_fill([0, 5, 0, 4], 3, seats=[1, 3]) == [3, 1, 3]
    assert level_fill([0, 5, 0, 4], 1, seats=[1, 3]) == [3]


def test_an_offset_begins_further_on_among_equals_only() -> None:
    assert level_fill([0, 0, 0, 1], 5, offset=2) == [2, 0, 1, 2, 3]
    assert level_fill([9, 0, 9, 0], 3, seats=[1, 3], offset=1) == [3, 1, 3]


def test_gaps_beyond_any_machine_word_cost_nothing() -> None:
    assert level_fill([0, 10**30], 4) == [0, 0, 0, 0]


def test_no_tasks_need_no_seats() -> None:
    assert level_fill([], 0) == []
    assert level_fill([3], 0) == []
