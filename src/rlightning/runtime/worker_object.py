"""The object inside a worker: its methods, what it says of itself, where its errors come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlightning.errors import WorkerDiedError, WorkerError
from rlightning.registry import did_you_mean

CREATION = "factory"
"""What a worker that is being made is busy with, where later a method is named."""

IDLE = "idle"
"""What a worker says that runs no method."""


def bound_method(target: object, worker_id: str, method: str) -> Callable[..., Any]:
    """Return a method of the worker's object.

    Raises:
        WorkerError: If it has none of that name; the message gives the nearest name.
    """
    try:
        found: Callable[..., Any] = getattr(target, method)
    except AttributeError as error:
        raise WorkerError(
            f"worker {worker_id!r} ({type(target).__name__}) has no method {method!r}"
            f"{did_you_mean(method, dir(target))}",
            worker_id=worker_id,
        ) from error
    return found


def described_activity(target: object) -> str:
    """Return what the object says it is doing, or an empty text.

    A worker may offer `describe_activity()`, for messages about a call that hangs. It is called
    from another thread while a method runs, so it must only read.
    """
    describe = getattr(target, "describe_activity", None)
    if describe is None:
        return ""
    try:
        return f" ({describe()})"
    except Exception as error:  # noqa: BLE001 - a report must not fail
        return f" (describe_activity() raised {error!r})"


def note_origin(error: BaseException, worker_id: str, what: str) -> None:
    """Note on an error, once, in which worker it arose."""
    note = f"raised in worker {worker_id!r}, {what}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def died_error(worker_id: str, incarnation: int, reason: str) -> WorkerDiedError:
    """Return the error of calls that a worker can no longer answer."""
    return WorkerDiedError(
        f"expected an answer of worker {worker_id!r} (incarnation {incarnation}), but it {reason}; "
        "send the call to another worker or spawn this one again",
        worker_id=worker_id,
    )
