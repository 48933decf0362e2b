"""Env ids: the one place that writes and reads them.

An env id is ``<prefix>-<worker index>``, optionally followed by ``/<rest>`` for a sub-environment
or a remote client: ``env-7``, ``env-7/2``, ``arm-3/robot-0``. The worker index is what stands in
ASCII digits at the very end of the part before the first slash, after a dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rlightning.errors import RoutingTypeError, RoutingValueError

MAX_DIGITS = 18
"""Longest worker index in digits; every such index fits a signed 64-bit integer."""

NUM_REMEMBERED = 65_536
"""How many ids are kept parsed: as many as one large call holds."""


@dataclass(frozen=True)
class EnvId:
    """What an env id says.

    Attributes:
        prefix: Text before the last dash; may be empty and may hold dashes, but no slash.
        worker_index: 0-based index of the environment worker in the cluster.
        rest: Text after the first slash, or None without a slash.
    """

    prefix: str
    worker_index: int
    rest: str | None = None


def format_env_id(env_id: EnvId) -> str:
    """Write an env id; `parse_env_id` gives the same `EnvId` back.

    Raises:
        RoutingTypeError: If a part has the wrong type.
        RoutingValueError: If the prefix holds a slash or the index is negative or too long.
    """
    _check_types(env_id)
    if "/" in env_id.prefix:
        raise RoutingValueError(
            f"expected an env id prefix without '/', got {env_id.prefix!r}; "
            "what follows a slash belongs into `rest`"
        )
    if not 0 <= env_id.worker_index < 10**MAX_DIGITS:
        raise RoutingValueError(
            f"expected a worker index from 0 to 10**{MAX_DIGITS} - 1, "
            f"got {env_id.worker_index}; number the workers from 0"
        )
    text = f"{env_id.prefix}-{env_id.worker_index}"
    return text if env_id.rest is None else f"{text}/{env_id.rest}"


def parse_env_id(text: str) -> EnvId | None:
    """Read an env id; None if the text is none.

    Raises:
        RoutingTypeError: If `text` is no string.
    """
    digits = _index_digits(text)
    if digits is None:
        return None
    head, slash, rest = text.partition("/")
    prefix = head[: -len(digits) - 1]
    return EnvId(prefix=prefix, worker_index=int(digits), rest=rest if slash else None)


@lru_cache(maxsize=NUM_REMEMBERED)
def worker_index_of(text: str) -> int | None:
    """Return the worker index of an env id, or None if the text is none.

    The last `NUM_REMEMBERED` answers are remembered, because routers ask for the same ids on
    every step. Safe from many threads.

    Raises:
        RoutingTypeError: If `text` is hashable but no string.
    """
    digits = _index_digits(text)
    return None if digits is None else int(digits)


def _index_digits(text: str) -> str | None:
    """Return the worker index as it is written, or None if the text is no env id."""
    if not isinstance(text, str):
        raise RoutingTypeError(
            f"expected an env id as a string, got {text!r} of type {type(text).__name__}; "
            "write ids with format_env_id"
        )
    _, dash, digits = text.partition("/")[0].rpartition("-")
    is_index = dash and len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit()
    return digits if is_index else None


def _check_types(env_id: EnvId) -> None:
    for name, value, kind in (
        ("prefix", env_id.prefix, str),
        ("worker_index", env_id.worker_index, int),
        ("rest", "" if env_id.rest is None else env_id.rest, str),
    ):
        if not isinstance(value, kind) or isinstance(value, bool):
            raise RoutingTypeError(
                f"expected {name} of an env id as {kind.__name__}, got {value!r} "
                f"of type {type(value).__name__}; pass the plain value"
            )
