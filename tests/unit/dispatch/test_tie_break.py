from __future__ import annotations

from collections import Counter

import pytest

from rlightning.dispatch.tie_break import TieBreak, rotated_to_start, start_offset


@pytest.mark.parametrize("num_places", [1, 2, 3, 4, 7, 16, 100])
@pytest.mark.parametrize("seed_step", [1, 2, 4, 10])
def test_start_offsets_spread_evenly(num_places: int, seed_step: int) -> None:
    num_seeds = 8 * num_places
    offsets = Counter(start_offset(i * seed_step, num_places) for i in range(num_seeds))
    assert set(offsets) == set(range(num_places))
    assert max(offsets.values()) <= 2 * 8


@pytest.mark.parametrize("seed", [-5, 0, 2**70])
def test_any_integer_is_a_seed(seed: int) -> None:
    assert 0 <= start_offset(seed, 5) < 5


def test_each_pool_moves_on_by_itself() -> None:
    rule = TieBreak("rotating")
    rule.advance("a", 2)
    rule.advance(None, 4)
    assert [rule.offset(pool, 3) for pool in ("a", "b", None)] == [2, 0, 1]
    assert rule.offset("a", 0) == 0


def test_the_lowest_never_moves_on() -> None:
    rule = TieBreak()
    rule.advance(None, 1)
    assert rule.offset(None, 3) == 0
    assert rule.start_seed is None


def test_items_begin_at_the_start_offset() -> None:
    assert rotated_to_start("abc", None) == ["a", "b", "c"]
    offset = start_offset(1, 3)
    assert rotated_to_start("abc", 1) == list("abc"[offset:] + "abc"[:offset])
