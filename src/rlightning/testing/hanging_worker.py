"""A worker that hangs until it is released, to see what deadlines and shutdowns do."""

from __future__ import annotations

import threading
from typing import Any

MAX_HANG_SECONDS = 30.0


class HangingWorker:
    """Hangs in `sleep`, as an environment at its seventh step would.

    Args:
        release: Ends the hang.
    """

    def __init__(self, release: threading.Event) -> None:
        self._release = release
        self._step_index = 0

    def echo(self, value: Any) -> Any:
        """Return the value."""
        return value

    def sleep(self) -> str:
        """Hang until the release, at most 30 seconds."""
        self._step_index = 7
        return "awake" if self._release.wait(MAX_HANG_SECONDS) else "forgotten"

    def describe_activity(self) -> str:
        """Return what an environment worker would say."""
        return f"environment 'Sleepy-v0' (env-3), step {self._step_index}"
