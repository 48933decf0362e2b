"""What goes to an actor beside the calls of its worker: questions, marks, and its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import ray

from rlightning.runtime.ray.completions import Completions
from rlightning.runtime.ray.ray_failures import is_unreachable

SECONDS_TO_ASK = 1.0
"""Longest wait for an answer that only makes a message better."""

SECONDS_BETWEEN_LOOKS = 0.1
"""Between two tries to reach an actor that could not be reached."""


class ActorControl:
    """Reaches an actor while it runs a method."""

    def __init__(self, actor: Any, completions: Completions) -> None:
        self._actor = actor
        self._completions = completions
        self._is_ended = False

    def listen(self, died: Callable[[BaseException], object]) -> None:
        """Call `died(error)` as soon as Ray knows that the process is gone, unless we ended it."""
        lifeline: Future[Any] = self._actor.live.remote().future()
        lifeline.add_done_callback(
            lambda ended: self._completions.call_soon(lambda: self._ended(ended, died))
        )

    def _ended(self, lifeline: Future[Any], died: Callable[[BaseException], object]) -> None:
        error = lifeline.exception()
        if self._is_ended or error is None:
            return
        if is_unreachable(error):  # a death often shows as this first
            call_later(SECONDS_BETWEEN_LOOKS, lambda: self.listen(died))
        else:
            died(error)

    def withdraw(self, call_number: int) -> bool:
        """Keep a call from running; False if it has begun or nothing is heard."""
        try:
            return bool(ray.get(self._actor.withdraw.remote(call_number), timeout=SECONDS_TO_ASK))
        except ray.exceptions.RayError:
            return False

    def retire(self, reason: str) -> None:
        """Keep all calls from running that have not begun. Waits for nothing."""
        self._actor.retire.remote(reason)

    def activity(self) -> str:
        """Return what the worker says it is doing, or why it says nothing."""
        try:
            answer: str = ray.get(self._actor.describe.remote(), timeout=SECONDS_TO_ASK)
        except ray.exceptions.RayError as error:
            return f"nothing ({type(error).__name__})"
        return answer

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._is_ended = True
        if ray.is_initialized():
            ray.kill(self._actor)


def call_later(seconds: float, action: Callable[[], object]) -> None:
    """Call `action()` after a while, on a thread of its own."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
