"""The runs that an actor was sent and has not answered, and when it last gave a sign of life."""

from __future__ import annotations

import time
from typing import Any

from rlightning.runtime.ray.sent_calls import SentCalls
from rlightning.runtime.ray.waiting_calls import RayCall


class UnderWay:
    """Runs in the order of their sending, which is the order in which the actor runs them.

    Used under the lock of the worker.

    Attributes:
        num_gathered: How many of them are runs of gathered methods.
    """

    def __init__(self) -> None:
        self._runs: dict[SentCalls, None] = {}
        self._heard_at = time.monotonic()
        self.num_gathered = 0

    def add(self, sent: SentCalls) -> None:
        """Note a run that was sent."""
        self._runs[sent] = None
        self.num_gathered += sent.is_gathered

    def remove(self, sent: SentCalls) -> None:
        """Note that a run has come back."""
        self._runs.pop(sent, None)
        self.num_gathered -= sent.is_gathered
        self._heard_at = time.monotonic()

    def calls(self) -> list[RayCall]:
        """Return the calls of all runs."""
        return [call for sent in self._runs for call in sent.calls]

    def in_turn(self) -> SentCalls | None:
        """Return the run that the actor should be at: the oldest, if its arguments are there."""
        oldest = next(iter(self._runs), None)
        if oldest is None or oldest.calls[0].task.is_done():
            return None
        arguments = [task for call in oldest.calls for task in call.argument_tasks]
        return oldest if all(task.is_done() for task in arguments) else None

    def seconds_since_a_sign(self) -> float:
        """Return how long ago the last answer came; before the first, since the start."""
        return time.monotonic() - self._heard_at

    def described(self) -> str:
        """Return what the actor has to answer and when it last did, for a message."""
        methods: list[Any] = [call.task.method for call in self.calls()]
        return (
            f"{len(methods)} calls {sorted(set(methods))} and was last heard of "
            f"{self.seconds_since_a_sign():.1f} s ago"
        )
