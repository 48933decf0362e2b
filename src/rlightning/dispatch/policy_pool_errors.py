"""What routers say about the policies they were given."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

from rlightning.errors import RoutingTypeError, RoutingValueError


def _shortener() -> reprlib.Repr:
    shortener = reprlib.Repr()
    shortener.maxother = shortener.maxstring = 100
    shortener.maxlist = shortener.maxtuple = shortener.maxdict = 16
    return shortener


_shortened = _shortener()


def short_repr(value: Any) -> str:
    """Return a policy, or a collection of them, cut to a readable length; never raises."""
    return _shortened.repr(value)


def checked_policies(eval_policies: Any) -> list[Any]:
    """Return a copy of the list of policies.

    Raises:
        RoutingTypeError: If it is no sequence.
        RoutingValueError: If the same object stands in it twice.
    """
    if not isinstance(eval_policies, Sequence) or isinstance(eval_policies, (str, bytes)):
        raise RoutingTypeError(
            f"expected eval_policies as a sequence, got {short_repr(eval_policies)} of type "
            f"{type(eval_policies).__name__}; pass a list of policies"
        )
    policies = list(eval_policies)
    position_by_identity: dict[int, int] = {}
    for position, policy in enumerate(policies):
        first = position_by_identity.setdefault(id(policy), position)
        if first != position:
            raise RoutingValueError(
                f"expected different policies, got {short_repr(policy)} at position {first} and "
                f"again at position {position}; give each policy once"
            )
    return policies


def no_policies_error() -> RoutingValueError:
    """Return the error for a choice without anything to choose from."""
    return RoutingValueError(
        "expected at least one policy to choose from, got none; add a policy first"
    )


def present_policy_error(policy: Any) -> RoutingValueError:
    """Return the error for a policy that is added a second time."""
    return RoutingValueError(
        f"expected a policy that is not in the router yet, got {short_repr(policy)} a second time; "
        "add each policy once"
    )


def absent_policy_error(policy: Any, num_policies: int) -> RoutingValueError:
    """Return the error for removing a policy that is not there."""
    return RoutingValueError(
        f"expected one of the router's {num_policies} policies, got {short_repr(policy)}; "
        "remove a policy once, and the very object that was added"
    )
