from __future__ import annotations

import pytest

from rlightning.metrics.readable_numbers import readable_count, readable_duration, readable_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.000"),
        (0.0004, "4.00e-04"),
        (0.25, "0.250"),
        (-12.34, "-12.3"),
        (4321.0, "4 321"),
        (2_500_000.0, "2.50e+06"),
    ],
)
def test_values_have_about_four_digits(value, text):
    assert readable_value(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-:--:--"),
        (0.4, "0:00:00"),
        (59.6, "0:01:00"),
        (3661.0, "1:01:01"),
        (90_000.0, "1 d 1:00:00"),
    ],
)
def test_durations_read_like_a_clock(seconds, text):
    assert readable_duration(seconds) == text


def test_counts_are_in_groups_of_three():
    assert readable_count(1_234_567) == "1 234 567"
