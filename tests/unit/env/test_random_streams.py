from __future__ import annotations

import numpy as np
import pytest

from rlightning.env.random_streams import RandomStreams


def numbers(streams: RandomStreams) -> list[float]:
    return [*streams.seeds.random(4), *streams.noise.random(4)]


def test_the_first_incarnation_draws_what_seed_and_index_say_alone() -> None:
    """The same numbers as before there were incarnations, so that old runs can be repeated."""
    children = np.random.SeedSequence((7, 3)).spawn(2)
    expected = [number for child in children for number in np.random.default_rng(child).random(4)]
    assert numbers(RandomStreams(7, 3)) == numbers(RandomStreams(7, 3, 1)) == expected


def test_no_two_incarnations_or_workers_draw_the_same() -> None:
    drawn = [
        tuple(numbers(RandomStreams(seed, index, incarnation)))
        for seed in (0, 1)
        for index in (0, 1, 2)
        for incarnation in (1, 2, 3)
    ]
    assert len({number for each in drawn for number in each}) == len(drawn) * 8


def test_a_state_can_be_taken_over() -> None:
    one, other = RandomStreams(0, 0), RandomStreams(5, 5, 2)
    numbers(one)
    other.restore(one.state())
    assert numbers(one) == numbers(other)


@pytest.mark.parametrize("state", [{}, {"seeds": 1, "noise": 2}])
def test_a_damaged_state_is_refused(state) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        RandomStreams(0, 0).restore(state)
