"""A call that ends only with the process that runs it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Lifeline:
    """Tells once, as soon as Ray knows it, that a worker's process is gone.

    Args:
        status: Of the call that never returns.
        died: Given Ray's error.
    """

    __slots__ = ("_died", "status")

    def __init__(self, status: Future[Any], died: Callable[[BaseException], object]) -> None:
        self.status = status
        self._died = died

    def settle(self) -> None:
        """Tell of the death."""
        error = self.status.exception()
        if error is not None:
            self._died(error)
