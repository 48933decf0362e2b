"""How much busier a home may be than elsewhere before a task leaves it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlightning.errors import RoutingTypeError, RoutingValueError


def checked_spill_margin(spill_margin: Any) -> float | None:
    """Return the margin in tasks; None for "never leave".

    Raises:
        RoutingTypeError: If it is neither a number nor None.
        RoutingValueError: If it is negative or NaN.
    """
    if spill_margin is None:
        return None
    is_number = isinstance(spill_margin, (int, float, np.integer, np.floating))
    if not is_number or isinstance(spill_margin, bool):
        raise RoutingTypeError(
            f"expected spill_margin as a number or None, got {spill_margin!r} of type "
            f"{type(spill_margin).__name__}; pass a number of tasks, or None for strict affinity"
        )
    if not spill_margin >= 0:
        raise RoutingValueError(
            f"expected spill_margin >= 0 or None, got {spill_margin!r}; "
            "pass a number of tasks, or None for strict affinity"
        )
    return spill_margin  # type: ignore[no-any-return]
