"""Reading a caller's loads, and charging them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rlightning.errors import RoutingValueError

Loads: TypeAlias = "Sequence[float] | NDArray[Any]"
"""Whole numbers >= 0 in a list, a tuple or a NumPy array; integral floats count as whole."""


def read_loads(current_loads: Loads) -> list[int]:
    """Return a copy of the loads as plain integers. O(n).

    Raises:
        RoutingValueError: If the container is no list, tuple or one-dimensional array, or an
            element is no whole number >= 0 (booleans and strings are none).
    """
    elements = _elements(current_loads)
    if set(map(type, elements)) <= {int} and min(elements, default=0) >= 0:
        return elements
    return [_whole_number(load, position) for position, load in enumerate(elements)]


def charge_loads(current_loads: Loads, num_tasks_by_policy: Mapping[int, int]) -> None:
    """Add to each policy's load the tasks that it was given, in place.

    A tuple or a read-only array stays as it is. Either all loads are charged or none.

    Raises:
        RoutingValueError: If a sum does not fit the type of its load exactly.
    """
    if not _is_mutable(current_loads):
        return
    charged = {
        policy_index: _sum(current_loads[policy_index], num_tasks, policy_index)
        for policy_index, num_tasks in num_tasks_by_policy.items()
    }
    for policy_index, load in charged.items():
        current_loads[policy_index] = load  # type: ignore[index]


def _elements(current_loads: Loads) -> list[Any]:
    if isinstance(current_loads, (list, tuple)):
        return list(current_loads)
    if (
        isinstance(current_loads, np.ndarray)
        and current_loads.ndim == 1
        and current_loads.dtype.kind in "iufO"
    ):
        elements: list[Any] = current_loads.tolist()
        return elements
    got = type(current_loads).__name__
    if isinstance(current_loads, np.ndarray):
        got = f"an array of shape {current_loads.shape} and type {current_loads.dtype}"
    raise RoutingValueError(
        f"expected current_loads as a list, tuple or one-dimensional array of numbers, got {got}; "
        "pass one load per policy"
    )


def _whole_number(load: Any, position: int) -> int:
    if (
        isinstance(load, (int, float, np.integer, np.floating))
        and not isinstance(load, (bool, np.timedelta64))
        and (isinstance(load, int) or load.is_integer())
        and load >= 0
    ):
        return int(load)
    raise RoutingValueError(
        f"expected whole numbers >= 0 in current_loads, got {load!r} at position {position}; "
        "pass the number of tasks in flight at each policy"
    )


def _is_mutable(current_loads: Loads) -> bool:
    if isinstance(current_loads, np.ndarray):
        return bool(current_loads.flags.writeable)
    return isinstance(current_loads, list)


def _sum(load: Any, num_tasks: int, policy_index: int) -> Any:
    """Return the load plus the tasks, in the type of the load."""
    exact = int(load) + num_tasks
    if isinstance(load, int):
        return exact
    kind = type(load)
    try:
        with np.errstate(all="ignore"):
            charged = kind(exact)
            is_exact = int(charged) == exact
    except OverflowError:
        charged, is_exact = load, False
    if not is_exact:
        raise RoutingValueError(
            f"expected the load at position {policy_index} plus {num_tasks} tasks to fit its type "
            f"{kind.__name__}, got {exact}; pass the loads in a wider integer type"
        )
    return charged
