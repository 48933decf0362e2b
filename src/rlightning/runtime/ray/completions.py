"""How the driver learns that calls have been answered."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import ray

from rlightning.clock import monotonic_clock

logger = logging.getLogger(__name__)

SECONDS_TO_END = 5.0

MIN_PAUSE_SECONDS = 0.002
MAX_PAUSE_SECONDS = 0.02
PAUSE_SHARE = 0.05
"""A pause between two looks lasts this share of the time in which nothing ended."""

SECONDS_AWAKE = 0.25
"""How long looks go on when nothing is under way, before the thread has to be woken again."""


class Entry(Protocol):
    """A run under way, whose end is noted."""

    @property
    def reference(self) -> ray.ObjectRef[Any]:
        """What becomes the status."""
        ...

    @property
    def sent_at(self) -> float:
        """When it began, in seconds of the clock."""
        ...

    def settle(self, status: bytes | BaseException) -> Callable[[], object] | None:
        """Take note of the end; may be called more than once.

        Returns:
            What is to be done after all that ended at the same time is settled.
        """
        ...


class Holder(Protocol):
    """A worker that may hold calls back."""

    def look(self) -> bool:
        """Release what was held back for long; return whether anything still is."""
        ...


class Completions:
    """One thread that looks every few milliseconds what has ended, and settles it together.

    Only the small status of a run comes to the driver, never its answers. To be told of each end
    by Ray costs two changes of thread for every call, which is more than the rest of a call; a
    look costs as much for a hundred runs as for one. Whoever waits for a result does not wait
    for a look. The longer nothing ends, the longer the pauses: a look comes late by
    `PAUSE_SHARE` of what the calls take, or by two milliseconds.
    """

    def __init__(self) -> None:
        self._open: dict[ray.ObjectRef[Any], Entry] = {}
        self._holders: dict[Holder, None] = {}
        self._notices: deque[Callable[[], object]] = deque()
        self._bell = threading.Event()
        self._is_asleep = False
        self._is_stopped = False
        self._ended_at = monotonic_clock()
        self._thread = threading.Thread(target=self._main, name="ray-completions", daemon=True)
        self._thread.start()

    def watch(self, entry: Entry) -> None:
        """Settle the entry soon after its status is there."""
        self._open[entry.reference] = entry
        if self._is_asleep:
            self._bell.set()

    def look_after(self, holder: Holder) -> None:
        """Ask a worker at each look whether it still holds calls back, until it does not."""
        self._holders[holder] = None
        if self._is_asleep:
            self._bell.set()

    def forget(self, entry: Entry) -> None:
        """Look no more after an entry that somebody else has settled."""
        self._open.pop(entry.reference, None)

    def call_soon(self, notice: Callable[[], object]) -> None:
        """Call `notice()` on the thread of this class. Never blocks."""
        self._notices.append(notice)
        self._bell.set()

    def stop(self) -> None:
        """Settle nothing more, and wait for the thread."""
        self._is_stopped = True
        self._bell.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(SECONDS_TO_END)

    def _main(self) -> None:
        while not self._is_stopped:
            self._bell.clear()
            while self._notices:
                _attempt(self._notices.popleft())
            if self._has_old():
                self._settle_ended()
            self._ask_holders()
            self._pause()

    def _has_old(self) -> bool:
        """Return whether the oldest entry is worth a look: the youngest have hardly ended."""
        oldest = next(iter(self._open.copy().values()), None)
        return oldest is not None and monotonic_clock() - oldest.sent_at > MIN_PAUSE_SECONDS

    def _ask_holders(self) -> None:
        for holder in list(self._holders):
            self._holders.pop(holder, None)  # before the question: it may hold again after it
            if _attempt(holder.look):
                self._holders[holder] = None

    def _pause(self) -> None:
        quiet_seconds = monotonic_clock() - self._ended_at
        if self._has_work() or quiet_seconds < SECONDS_AWAKE:
            seconds = max(MIN_PAUSE_SECONDS, PAUSE_SHARE * quiet_seconds)
            self._bell.wait(min(MAX_PAUSE_SECONDS, seconds))
            return
        self._is_asleep = True
        if not self._has_work():  # asked again: others ring only after they saw it asleep
            self._bell.wait()
        self._is_asleep = False
        self._ended_at = monotonic_clock()

    def _has_work(self) -> bool:
        return bool(self._open or self._holders or self._notices or self._is_stopped)

    def _settle_ended(self) -> None:
        references = list(self._open)
        ended, _ = ray.wait(references, num_returns=len(references), timeout=0, fetch_local=False)
        if not ended:
            return
        following: dict[Callable[[], object], None] = {}
        for reference, status in zip(ended, _statuses(ended), strict=True):
            entry = self._open.pop(reference, None)
            if entry is None:
                continue
            action = _attempt(partial(entry.settle, status))
            if action is not None:
                following[action] = None
        for action in following:
            _attempt(action)
        self._ended_at = monotonic_clock()


def _statuses(ended: list[ray.ObjectRef[Any]]) -> list[bytes | BaseException]:
    try:
        statuses: list[bytes | BaseException] = ray.get(ended)
    except Exception as error:  # noqa: BLE001 - the error of one of them
        return [error] if len(ended) == 1 else [_statuses([each])[0] for each in ended]
    return statuses


def _attempt(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception:
        logger.exception("taking note of the end of a call failed")
        return None
