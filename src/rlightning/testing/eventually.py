"""Waiting for what other threads bring about."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(condition: Callable[[], object], timeout_seconds: float = 10.0) -> None:
    """Return as soon as the condition holds; it is asked every millisecond.

    Raises:
        TimeoutError: If it does not hold before the deadline.
    """
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected {condition} to hold within {timeout_seconds} s")
        time.sleep(0.001)
