from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlightning.metrics.trail import Trail, sparkline


def test_few_values_are_kept_as_they_are():
    trail = Trail(size=4)
    for value in (3.0, 1.0, 2.0):
        trail.add(value)

    assert trail.values() == (3.0, 1.0, 2.0)


def test_many_values_become_means_of_equal_stretches():
    trail = Trail(size=2)
    for value in range(9):
        trail.add(float(value))

    # stretches of 4, then one value that waits for its stretch to fill
    assert trail.values() == (1.5, 5.5, 8.0)


@given(st.lists(st.floats(-1e6, 1e6), max_size=400), st.integers(1, 20))
def test_a_trail_stays_small_and_within_the_values(values, size):
    trail = Trail(size)
    for value in values:
        trail.add(value)

    assert len(trail.values()) <= 2 * size + 1
    if values:
        assert min(values) - 1e-6 <= min(trail.values())
        assert max(trail.values()) <= max(values) + 1e-6


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=100), st.integers(1, 40))
def test_a_sparkline_is_never_wider_than_asked(values, width):
    assert len(sparkline(tuple(values), width)) == min(width, len(values))


def test_a_sparkline_rises_with_its_values():
    assert sparkline((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), 8) == "▁▂▃▄▅▆▇█"
    assert sparkline((5.0, 5.0), 8) == "▁▁"
    assert sparkline((), 8) == ""
