"""A process that gets only a part of the time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SECONDS_OF_A_TURN = 0.1


@contextmanager
def slowed(process_id: int, factor: float) -> Iterator[None]:
    """Stop and continue a process in turns, so that it takes `factor` times as long."""
    is_over = threading.Event()

    def take_turns() -> None:
        running = SECONDS_OF_A_TURN / factor
        with suppress(ProcessLookupError):
            while not is_over.wait(running):
                os.kill(process_id, signal.SIGSTOP)
                is_over.wait(SECONDS_OF_A_TURN - running)
                os.kill(process_id, signal.SIGCONT)

    thread = threading.Thread(target=take_turns, name="slowing", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
