"""Where two states differ, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def state_differences(one: Any, other: Any, where: str = "state") -> list[str]:
    """Return the places at which two nested states differ, such as ``state['a'][0]``.

    Two values are equal if they have the same type and, tensors, the same data type and the same
    bits; dicts also need the same order of keys. NaN equals NaN.

    Args:
        one: Tensors and plain values, nested in dicts, lists and tuples.
        other: The same.
        where: Name of the whole, with which every place begins.
    """
    if type(one) is not type(other):
        return [where]
    if not isinstance(one, Mapping | list | tuple):
        return [] if _is_same(one, other) else [where]
    parts, other_parts = _parts(one), _parts(other)
    if list(parts) != list(other_parts):
        return [where]
    return [
        place
        for key, part in parts.items()
        for place in state_differences(part, other_parts[key], f"{where}[{key!r}]")
    ]


def _parts(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else dict(enumerate(value))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and (
            one.cpu().numpy().tobytes() == other.cpu().numpy().tobytes()
        )
    return repr(one) == repr(other)
