"""Signals that must wait until something is done that cannot be broken off halfway."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)

EXIT_CODE_OF_SIGTERM = 128 + signal.SIGTERM


class PutOffSignals:
    """Notes SIGINT and SIGTERM, and lets the first of them have its effect at the end.

    A second one has it at once: then somebody insists. Without a handler of the program SIGTERM
    becomes a `SystemExit`, so that everything else is taken down too. Does nothing outside the
    main thread, where Python allows no handlers.
    """

    def __init__(self) -> None:
        self._noted: int | None = None
        self._former: dict[int, Any] = {}

    @property
    def is_asked_to_end(self) -> bool:
        """Whether a signal came."""
        return self._noted is not None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._former = {each: signal.signal(each, self._note) for each in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._put_back()
        if self._noted is not None and not isinstance(error, KeyboardInterrupt | SystemExit):
            _take_effect(self._noted)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted is not None:
            self._put_back()
            _take_effect(number)
        self._noted = number

    def _put_back(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former = {}


def exit_on_sigterm(number: int = signal.SIGTERM, frame: FrameType | None = None) -> None:
    """End the program as an exception does, so that everything is taken down."""
    raise SystemExit(EXIT_CODE_OF_SIGTERM)


def _take_effect(number: int) -> None:
    if number == signal.SIGTERM and signal.getsignal(number) == signal.SIG_DFL:
        exit_on_sigterm()
    signal.raise_signal(number)
