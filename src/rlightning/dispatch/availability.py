"""Whether a policy can say that it is available, and asking it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rlightning.errors import RoutingError, RoutingTypeError

AvailabilityCheck: TypeAlias = Callable[[], Any]

_NAME = "is_available"
_MISSING = object()


def find_availability_check(policy: Any) -> AvailabilityCheck | None:
    """Return the policy's own local `is_available`, or None if it offers none.

    Looked up without running any code of the policy, so that a remote handle, which answers every
    attribute or holds method objects of its own, is never called. Only a plain method counts; a
    coroutine function does not, since its answer would have to be awaited.
    """
    if isinstance(policy, type):
        return None
    found = inspect.getattr_static(policy, _NAME, _MISSING)
    is_of_class = found is inspect.getattr_static(type(policy), _NAME, None)
    if is_of_class and isinstance(found, (staticmethod, classmethod)):
        function: Any = found.__func__
    else:
        function = found
    if not inspect.isroutine(function) or _answers_later(function):
        return None
    check: AvailabilityCheck = found.__get__(policy, type(policy)) if is_of_class else found
    return check


def ask_availability(check: AvailabilityCheck, asked: object) -> bool:
    """Ask a policy, which messages name by `str(asked)`, whether it is available.

    Raises:
        RoutingError: If the policy raises; its exception is the cause.
        RoutingTypeError: If the answer is no bool.
    """
    try:
        answer = check()
    except Exception as error:
        raise RoutingError(
            f"expected a bool from is_available() of {asked}, got {type(error).__name__}: {error}; "
            "let it answer False while the policy cannot work, or remove the policy"
        ) from error
    if not isinstance(answer, (bool, np.bool_)):
        raise RoutingTypeError(
            f"expected a bool from is_available() of {asked}, got {answer!r} of type "
            f"{type(answer).__name__}; return True or False"
        )
    return bool(answer)


def _answers_later(function: Any) -> bool:
    return (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or hasattr(function, "remote")
    )
