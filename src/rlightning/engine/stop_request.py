"""A polite end: the first signal asks, the second insists."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Turns the first SIGINT or SIGTERM into a request; the second one ends at once.

    As a context manager it installs its handlers and puts the former ones back. Outside the
    main thread, where Python allows no handlers, only `request` asks for the end.
    """

    def __init__(self, announce: Callable[[str], None] = lambda text: None) -> None:
        self._requested = threading.Event()
        self._announce = announce
        self._former: dict[int, signal.Handlers | int | Callable[..., object] | None] = {}

    @property
    def is_requested(self) -> bool:
        """Whether somebody has asked for the end. Thread-safe."""
        return self._requested.is_set()

    def request(self) -> None:
        """Ask the engine to end after the iteration at hand. Thread-safe."""
        self._requested.set()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._former = {each: signal.signal(each, self._on_signal) for each in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former = {}

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._requested.is_set():
            raise KeyboardInterrupt
        self._requested.set()
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        text = f"{name}: ending after this iteration, with a checkpoint; once more ends at once"
        # On a thread, because the signal may have come in the middle of a print or an import.
        threading.Thread(target=self._announce, args=(text,), name="announce", daemon=True).start()
