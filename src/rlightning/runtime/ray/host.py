"""The actor that hosts one worker's object. Runs in a process of the cluster, without torch."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ray

from rlightning.errors import TaskCancelledError
from rlightning.runtime.gathered import gather_rules_of, gathered_answers
from rlightning.runtime.place import settle
from rlightning.runtime.ray.failure import Failure, failure_of
from rlightning.runtime.ray.packing import packed, unpacked
from rlightning.runtime.ray.versions import Versions, versions_here
from rlightning.runtime.ray.wire import read_header, status
from rlightning.runtime.worker_object import (
    CREATION,
    IDLE,
    bound_method,
    described_activity,
    died_error,
)

CONTROL_GROUP = "control"
LIFELINE_GROUP = "lifeline"
CONCURRENCY_GROUPS = {CONTROL_GROUP: 1, LIFELINE_GROUP: 1}
"""Threads beside the one that runs the worker's methods, which therefore run one at a time."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an actor says of itself once its process runs.

    Attributes:
        actor_id: As Ray names it.
        node_id: Where it really is.
        process_id: Of its process there.
        versions: What is installed there.
    """

    actor_id: str
    node_id: str
    process_id: int
    versions: Versions


class HostActor:
    """Makes the object and runs its methods, one at a time, in the order in which they came.

    The methods marked with a group run on threads of their own beside that: they only look at
    what runs, or put marks that the next run reads.
    """

    def __init__(self, worker_id: str, incarnation: int) -> None:
        self._worker_id = worker_id
        self._incarnation = incarnation
        self._target: object = None
        self._lock = threading.Lock()
        self._newest_call = -1
        self._withdrawn: set[int] = set()
        self._end_reason: str | None = None
        self._running: tuple[str, float] | None = None

    def __repr__(self) -> str:
        return self._worker_id

    def arrive(self) -> Arrival:
        """Return where this is and what is installed here."""
        here = ray.get_runtime_context()
        actor_id = here.get_actor_id() or ""
        settle(here.get_node_id())
        return Arrival(actor_id, here.get_node_id(), os.getpid(), versions_here())

    def create(self, factory: Callable[[], object]) -> dict[str, Any] | Failure:
        """Make the object; return the rules of its gathered methods."""
        self._running = (CREATION, time.monotonic())
        try:
            self._target = factory()
        except BaseException as error:  # noqa: BLE001 - it goes to the caller of `spawn`
            return failure_of(error, self._worker_id, f"{CREATION}()")
        finally:
            self._running = None
        return gather_rules_of(self._target)

    @ray.method(num_returns=2)
    def run(self, header: bytes, /, *args: Any, **kwargs: Any) -> tuple[bytes, Any]:
        """Run a method for one call; return its status and its answer."""
        method, (number,) = read_header(header)
        started = self._begin(method)
        with _ends_the_process():
            answer = self._answer(method, number, args, kwargs)
        return self._end(started, [answer]), packed(answer)

    def run_gathered(self, header: bytes, /, *arguments: Any) -> list[Any]:
        """Run a gathered method for several calls; return the status and the answers."""
        method, numbers = read_header(header)
        started = self._begin(method)
        with _ends_the_process():
            answers = self._gathered_answers(method, numbers, arguments)
        return [self._end(started, answers), *map(packed, answers)]

    def _begin(self, method: str) -> float:
        started = time.monotonic()
        self._running = (method, started)
        return started

    def _end(self, started: float, answers: Sequence[Any]) -> bytes:
        self._running = None
        failures = [answer if isinstance(answer, Failure) else None for answer in answers]
        return status(time.monotonic() - started, failures)

    def _answer(
        self, method: str, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        args = tuple([unpacked(value) for value in args])
        refusal = self._refusal(number, method, (*args, *kwargs.values()))
        if refusal is not None:
            return refusal
        try:
            kwargs = {name: unpacked(value) for name, value in kwargs.items()}
            return bound_method(self._target, self._worker_id, method)(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - it goes to the caller
            return failure_of(error, self._worker_id, f"{method}()")

    def _gathered_answers(
        self, method: str, numbers: Sequence[int], arguments: Sequence[Any]
    ) -> list[Any]:
        answers: list[Any] = [
            self._refusal(number, method, (argument,))
            for number, argument in zip(numbers, arguments, strict=True)
        ]
        accepted = [index for index, refusal in enumerate(answers) if refusal is None]
        if accepted:
            given = [unpacked(arguments[index]) for index in accepted]
            for index, answer in zip(accepted, self._run_together(method, given), strict=True):
                answers[index] = answer
        return answers

    def _run_together(self, method: str, arguments: list[Any]) -> list[Any]:
        try:
            function = bound_method(self._target, self._worker_id, method)
            answers = gathered_answers(function, method, arguments)
        except Exception as error:  # noqa: BLE001 - it goes to the callers
            return [failure_of(error, self._worker_id, f"{method}()")] * len(arguments)
        return [
            failure_of(answer, self._worker_id, f"{method}()")
            if isinstance(answer, Exception)
            else answer
            for answer in answers
        ]

    def _refusal(self, number: int, method: str, values: Sequence[Any]) -> Failure | None:
        """Return why a call must not run: it or the worker ended, or an argument failed."""
        with self._lock:
            self._newest_call = max(self._newest_call, number)
            is_withdrawn = number in self._withdrawn
            self._withdrawn.discard(number)
        if is_withdrawn:
            text = f"{self._worker_id}.{method}() was cancelled before it ran"
            return Failure(TaskCancelledError(text, worker_id=self._worker_id))
        if self._end_reason is not None:
            return Failure(died_error(self._worker_id, self._incarnation, self._end_reason))
        for value in values:
            if isinstance(value, Failure):
                return value.passed_on()
        return None

    @ray.method(concurrency_group=CONTROL_GROUP)
    def withdraw(self, call_number: int) -> bool:
        """Keep a call from running; False if it has begun."""
        with self._lock:
            if call_number <= self._newest_call:
                return False
            self._withdrawn.add(call_number)
            return True

    @ray.method(concurrency_group=CONTROL_GROUP)
    def retire(self, reason: str) -> None:
        """Run no call that has not begun."""
        self._end_reason = reason

    @ray.method(concurrency_group=CONTROL_GROUP)
    def describe(self) -> str:
        """Return what runs now and since when."""
        running = self._running
        if running is None and self._target is None:
            return "importing what its factory needs"
        if running is None:
            return IDLE
        method, since = running
        activity = described_activity(self._target)
        return f"busy with {method}() since {time.monotonic() - since:.1f} s{activity}"

    @ray.method(concurrency_group=LIFELINE_GROUP)
    def live(self) -> None:
        """Never return: whoever waits for this learns of the end of the process."""
        threading.Event().wait()


@contextmanager
def _ends_the_process() -> Iterator[None]:
    """End the process at once on `SystemExit` and the like, whatever its threads still do."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - the object ends its worker
        traceback.print_exception(error)
        code = error.code if isinstance(error, SystemExit) else 1
        os._exit(code if isinstance(code, int) else 1)
