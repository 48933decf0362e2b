"""When a fault happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from rlightning.dispatch.ledger import Ledger

SECONDS_TO_HAPPEN = 240.0


class FaultMoment:
    """Has something done once, a while after so many calls of a run have ended.

    Args:
        num_calls: Of all workers together.
        delay_seconds: From then on.

    Attributes:
        victims: Whom it has befallen; None before it has happened.
        error: What it raised itself.
    """

    def __init__(self, num_calls: int, delay_seconds: float) -> None:
        self.victims: Sequence[str] | None = None
        self.error: BaseException | None = None
        self.num_calls = num_calls
        self.delay_seconds = delay_seconds
        self._num_left = num_calls
        self._lock = threading.Lock()
        self._has_come = threading.Event()
        self._run_is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, ledger: Ledger, inject: Callable[[], Sequence[str]]) -> None:
        """Count from now on.

        Args:
            ledger: Tells of each call that has ended.
            inject: Does the fault, on a thread of its own; returns its victims.
        """
        self._thread = threading.Thread(
            target=self._main, args=(inject,), name="fault", daemon=True
        )
        self._thread.start()
        ledger.on_release(self._count)

    def end(self) -> None:
        """Wait until a fault whose moment has come has happened; no other will."""
        self._run_is_over.set()
        self._has_come.set()
        if self._thread is not None:
            self._thread.join(SECONDS_TO_HAPPEN)

    def __str__(self) -> str:
        return f"{self.delay_seconds * 1e3:.0f} ms after call {self.num_calls}"

    def _count(self, worker_id: str) -> None:
        with self._lock:
            self._num_left -= 1
            has_come = self._num_left == 0
        if has_come:
            self._has_come.set()

    def _main(self, inject: Callable[[], Sequence[str]]) -> None:
        self._has_come.wait()
        if self._num_left > 0:
            return
        self._run_is_over.wait(self.delay_seconds)
        try:
            self.victims = inject()
        except Exception as error:  # noqa: BLE001 - it is told of with what was found
            self.error = error
