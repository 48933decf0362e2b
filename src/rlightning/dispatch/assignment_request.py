"""What a caller asks of `assign`, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlightning.errors import RoutingTypeError, RoutingValueError


def checked_num_tasks(num_tasks: Any) -> int:
    """Return `num_tasks` as a plain integer.

    Raises:
        RoutingTypeError: If it is no integer; a boolean is none.
        RoutingValueError: If it is negative.
    """
    is_integer = isinstance(num_tasks, (int, np.integer))
    if not is_integer or isinstance(num_tasks, (bool, np.timedelta64)):
        raise RoutingTypeError(
            f"expected num_tasks as an integer, got {num_tasks!r} of type "
            f"{type(num_tasks).__name__}; pass the number of tasks to place"
        )
    if num_tasks < 0:
        raise RoutingValueError(
            f"expected num_tasks >= 0, got {num_tasks}; pass the number of tasks to place"
        )
    return int(num_tasks)


def check_length_of_env_ids(env_ids: Any, num_tasks: int) -> None:
    """Refuse env ids that are no sequence with one element per task; None is allowed.

    Raises:
        RoutingTypeError: If they are no sequence, or a bare string.
        RoutingValueError: If there are more or fewer than `num_tasks`.
    """
    if env_ids is None:
        return
    is_vector = isinstance(env_ids, np.ndarray) and env_ids.ndim == 1
    is_sequence = isinstance(env_ids, Sequence) and not isinstance(env_ids, (str, bytes))
    if not (is_vector or is_sequence):
        raise RoutingTypeError(
            f"expected env_ids as a sequence of strings, got {env_ids!r} of type "
            f"{type(env_ids).__name__}; pass a list with one env id per task"
        )
    if len(env_ids) != num_tasks:
        raise RoutingValueError(
            f"expected one env id for each of {num_tasks} tasks, got {len(env_ids)} env ids; "
            "pass lists of the same length"
        )


def checked_env_ids(env_ids: Any, num_tasks: int) -> list[str] | None:
    """Return a copy of the env ids, one per task, or None where none were given. O(k).

    Raises:
        RoutingTypeError: If they are no sequence, a bare string, or an element is no string.
        RoutingValueError: If there are more or fewer than `num_tasks`.
    """
    check_length_of_env_ids(env_ids, num_tasks)
    if env_ids is None:
        return None
    copied: list[Any] = list(env_ids)
    if not set(map(type, copied)) <= {str}:
        for position, env_id in enumerate(copied):
            _check_is_string(env_id, position)
    return copied


def _check_is_string(env_id: Any, position: int) -> None:
    if not isinstance(env_id, str):
        raise RoutingTypeError(
            f"expected env_ids as strings, got {env_id!r} of type {type(env_id).__name__} at "
            f"position {position}; write ids with rlightning.env_id.format_env_id"
        )
