"""Letting the requests of a round go to their replicas together."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rlightning.policy.eval_policy import EvalPolicy


class HeldCalls:
    """Holds the calls to replicas back until all of a round are there; a context manager."""

    def __init__(self) -> None:
        self._members: dict[EvalPolicy, None] = {}

    def hold(self, members: Iterable[EvalPolicy]) -> None:
        """Hold calls to these replicas back, if that is not done already."""
        for member in members:
            if member not in self._members:
                self._members[member] = None
                member.handle.hold_calls()

    def release(self) -> None:
        """Send all that was held back."""
        for member in self._members:
            member.handle.release_calls()
        self._members.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()
