"""A failed call as a value: it travels where the answer would have gone."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass

from rlightning.errors import WorkerError
from rlightning.runtime.worker_object import note_origin


@dataclass(frozen=True, slots=True)
class Failure:
    """What a call answers that failed; given as an argument, it is the failure of that call too.

    Attributes:
        error: Of the type that was raised, with the worker's traceback as a note.
        is_of_argument: Whether the method did not run because an argument had failed.
    """

    error: BaseException
    is_of_argument: bool = False

    def passed_on(self) -> Failure:
        """Return the same as the failure of a call of which this is an argument."""
        return Failure(self.error, is_of_argument=True)


def failure_of(error: BaseException, worker_id: str, what: str) -> Failure:
    """Return an error that arose in a worker, in a form that can leave it.

    Args:
        error: As it was raised.
        worker_id: Where.
        what: What ran, such as ``act()``.
    """
    text = "".join(traceback.format_exception(error)).rstrip()
    note_origin(error, worker_id, what)
    if error.__traceback__ is not None:
        error.add_note(f"traceback in worker {worker_id!r}:\n{text}")
    return Failure(_that_can_travel(error, worker_id, text))


def _that_can_travel(error: BaseException, worker_id: str, text: str) -> BaseException:
    try:
        copied = pickle.loads(pickle.dumps(error))
    except Exception as problem:  # noqa: BLE001 - whatever its own methods raise
        return WorkerError(
            f"worker {worker_id!r} raised an error that cannot be pickled ({problem!r}); give "
            f"its class a constructor that takes its `args`. The error was:\n{text}",
            worker_id=worker_id,
        )
    return copied if type(copied) is type(error) else WorkerError(text, worker_id=worker_id)
