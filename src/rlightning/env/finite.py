"""Whether every number of an array is finite, at next to no cost where it is."""

from __future__ import annotations

import numpy as np

from rlightning.errors import EnvironmentFailedError
from rlightning.types import Array

SAFE_SQUARE_SUM = 1e70
"""Below this no element exceeds 1e35, so each also fits float32."""


def is_finite(values: Array) -> bool:
    """Return whether no element is NaN, infinite, or too large for float32.

    The sum of squares decides in one pass; only where it is too large is each element looked at.
    Integers are always finite.
    """
    if values.dtype.kind != "f":
        return True
    square_sum = float(np.vdot(values, values))
    if square_sum < SAFE_SQUARE_SUM:
        return True
    return bool((np.abs(values) <= np.finfo(np.float32).max).all())


def refuse_not_finite(name: str, values: Array) -> None:
    """Refuse what an environment gave if an element is not finite.

    Args:
        name: What it is, for the message.
        values: One row for each sub-environment. Shape: (B, …).

    Raises:
        EnvironmentFailedError: If an element is not finite; the first such row is named.
    """
    if is_finite(values):
        return
    row = next(row for row, value in enumerate(values) if not is_finite(np.atleast_1d(value)))
    raise EnvironmentFailedError(
        f"expected a finite {name}, got {values[row]} in sub-environment {row}; "
        "correct the environment, or clip what it returns"
    )
