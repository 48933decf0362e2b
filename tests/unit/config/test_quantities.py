"""Amounts as people write them are read exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rlightning.config.quantities import (
    bytes_text,
    read_bytes,
    read_count_range,
    read_gpu_share,
    read_share,
    share_text,
    stored_share,
)


@pytest.mark.parametrize(
    ("value", "share"),
    [
        ("1/9", Fraction(1, 9)),
        (1 / 9, Fraction(1, 9)),
        (1 / 11, Fraction(1, 11)),
        ("0.3333333", Fraction(1, 3)),
        (0.1, Fraction(1, 10)),
        (64, Fraction(64)),
        (" 2 ", Fraction(2)),
        (Fraction(1, 7), Fraction(1, 7)),
    ],
)
def test_a_share_is_exact(value: Any, share: Fraction) -> None:
    assert read_share(value) == share


@pytest.mark.parametrize(
    "value", [True, None, "", "1/0", "-1", -0.5, float("nan"), float("inf"), "1e9", "a", "1/99999",
              10**12, 0.00001, [1]],
)  # fmt: skip
def test_what_is_no_share_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_share(value)


def test_gpus_are_a_part_of_one_or_whole() -> None:
    assert read_gpu_share(2) == 2
    with pytest.raises(ValueError, match="a part of one GPU or whole GPUs"):
        read_gpu_share(1.5)


@pytest.mark.parametrize(
    ("value", "num_bytes"),
    [("4GiB", 2**32), ("500MB", 500_000_000), (0, 0), ("1.5 kib", 1536), ("7", 7), ("2TB", 2e12)],
)
def test_memory_is_read_with_its_unit(value: Any, num_bytes: int) -> None:
    assert read_bytes(value) == num_bytes


@pytest.mark.parametrize("value", [True, "GiB", "4 GB ram", -1, None, "4PB"])
def test_what_is_no_memory_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected memory such as"):
        read_bytes(value)


def test_a_count_is_a_range_of_one() -> None:
    assert read_count_range(4) == (4, 4)
    assert read_count_range("2-6") == (2, 6)


@pytest.mark.parametrize("value", [True, "6-2", "-1", "a", None, 1.5, "1-2-3"])
def test_what_is_no_range_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a count such as 4 or a range such as 2-6"):
        read_count_range(value)


def test_amounts_are_written_as_people_read_them() -> None:
    shares = (Fraction(2), Fraction(1, 2), Fraction(1, 9), Fraction(123_456))
    assert [share_text(share) for share in shares] == ["2", "0.5", "1/9", "123456"]
    assert [stored_share(share) for share in shares] == [2, "1/2", "1/9", 123_456]
    texts = [bytes_text(amount) for amount in (12, 2048, 3 * 2**20, 2**35, 2**41)]
    assert texts == ["12 B", "2 KiB", "3 MiB", "32 GiB", "2 TiB"]
