"""Amounts of a resource as people write them: `1/9` of a GPU, `4GiB`, a range of counts."""

from __future__ import annotations

import re
from fractions import Fraction

LARGEST_DENOMINATOR = 10_000
"""Shares are told apart down to one part in so many, as schedulers of clusters do."""

_LARGEST_NUMBER = 10**9
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,18})?", re.ASCII)
_RATIO = re.compile(r"(\d{1,9})/(\d{1,5})", re.ASCII)
_BYTES = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*([a-z]*)", re.ASCII | re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,6})\s*-\s*(\d{1,6})", re.ASCII)
_BYTES_OF_UNIT = {"": 1, "b": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("b", 1000), ("ib", 1024))
}


def read_share(value: object) -> Fraction:
    """Return an amount exactly: ``2``, ``0.5``, ``"1/9"``; a number near 1/9 is 1/9.

    Numbers with a point are rounded to the nearest fraction whose denominator is at most
    `LARGEST_DENOMINATOR`, so that nine times 0.1111111 of a GPU is one GPU.

    Raises:
        ValueError: If it is no such amount, or a positive one too small to be told from none.
    """
    exact = value if isinstance(value, Fraction) else _exact_number(value)
    if exact is None or not 0 <= exact <= _LARGEST_NUMBER:
        raise ValueError(f"expected an amount such as 2, 0.5 or 1/9, got {value!r}")
    share = exact.limit_denominator(LARGEST_DENOMINATOR)
    if exact > 0 and share == 0:
        raise ValueError(f"expected 0 or at least 1/{LARGEST_DENOMINATOR}, got {value!r}")
    return share


def read_gpu_share(value: object) -> Fraction:
    """Return an amount of GPUs: a part of one, or whole ones.

    Raises:
        ValueError: If it is no amount, or above 1 and not whole.
    """
    share = read_share(value)
    if share > 1 and share.denominator != 1:
        raise ValueError(
            f"expected a part of one GPU or whole GPUs, got {value}; "
            "one process cannot hold a part of a second GPU"
        )
    return share


def read_bytes(value: object) -> int:
    """Return an amount of memory in bytes: ``4GiB``, ``500MB``, or a number of bytes.

    Raises:
        ValueError: If it is no such amount.
    """
    match = None if isinstance(value, bool) else _BYTES.fullmatch(str(value).strip())
    unit = _BYTES_OF_UNIT.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError(f"expected memory such as 4GiB, 500MB or a number of bytes, got {value!r}")
    return int(Fraction(match[1]) * unit)


def read_count_range(value: object) -> tuple[int, int]:
    """Return the least and the largest count of ``4`` (exactly four) or ``"2-6"``.

    Raises:
        ValueError: If it is neither.
    """
    text = "" if isinstance(value, bool) else str(value).strip()
    match = _RANGE.fullmatch(text)
    if re.fullmatch(r"\d{1,6}", text, re.ASCII):
        return int(text), int(text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError(f"expected a count such as 4 or a range such as 2-6, got {value!r}")
    return int(match[1]), int(match[2])


def share_text(share: Fraction) -> str:
    """Return the amount as people write it: ``2``, ``0.5``, ``1/9``."""
    if share.denominator in (1, 2, 4, 5, 10):
        return f"{float(share):g}" if share < LARGEST_DENOMINATOR else str(share)
    return str(share)


def stored_share(share: Fraction) -> int | str:
    """Return the amount as a configuration file holds it: ``2``, ``"1/9"``."""
    return int(share) if share.denominator == 1 else str(share)


def bytes_text(num_bytes: int) -> str:
    """Return memory with the largest unit that leaves a number of at least 1."""
    for unit, prefix in ((1024**4, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if num_bytes >= unit:
            return f"{num_bytes / unit:.4g} {prefix}"
    return f"{num_bytes} B"


def _exact_number(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    text = str(value).strip() if isinstance(value, int | str) else _plain_text(value)
    ratio = _RATIO.fullmatch(text)
    if ratio and 0 < int(ratio[2]) <= LARGEST_DENOMINATOR:
        return Fraction(int(ratio[1]), int(ratio[2]))
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def _plain_text(value: object) -> str:
    """Return a float without an exponent; anything else becomes a text that is refused."""
    return f"{value:.12f}" if isinstance(value, float) else ""
