"""How the driver learns that calls have been answered."""

from __future__ import annotations

import logging
import queue
import threading
from concurrent.futures import Future
from typing import Any, Protocol

logger = logging.getLogger(__name__)

SECONDS_TO_END = 5.0


class Entry(Protocol):
    """Something under way, whose end is noted."""

    status: Future[Any]

    def settle(self) -> None:
        """Take note of the end; may be called more than once."""
        ...


class Completions:
    """One thread that settles what has ended, in the order in which it ended.

    Only the small status of a call comes to the driver, never its answer. Ray tells of it by a
    callback on a thread of its own, which must not be held up; so all that follows, such as
    giving leases back, happens on the thread of this class.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._main, name="ray-completions", daemon=True)
        self._thread.start()

    def watch(self, entry: Entry) -> None:
        """Settle the entry once its status is there."""
        entry.status.add_done_callback(lambda _: self._ended.put(entry))

    def stop(self) -> None:
        """Settle nothing more, and wait for the thread."""
        self._ended.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(SECONDS_TO_END)

    def _main(self) -> None:
        while (entry := self._ended.get()) is not None:
            try:
                entry.settle()
            except Exception:
                logger.exception("taking note of the end of %r failed", entry)
            del entry
