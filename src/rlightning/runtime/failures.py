"""What a failed call says about the worker that reports it."""

from __future__ import annotations

import enum

from rlightning.errors import WorkerDiedError, WorkerError


class FailureKind(enum.Enum):
    """The three kinds of failure.

    Attributes:
        CALLER: The call itself was wrong, or an argument of it failed: the worker is sound.
        PASSING: The worker or the way to it had a hiccup: try elsewhere, and here again later.
        DEATH: The worker is gone.
    """

    CALLER = "caller"
    PASSING = "passing"
    DEATH = "death"


def failure_kind(error: BaseException, worker_id: str) -> FailureKind:
    """Return the kind of a failure that worker `worker_id` reported.

    An error that names another worker, such as the death of one whose task was an argument, says
    nothing against this one.
    """
    if isinstance(error, WorkerError) and error.worker_id not in (None, worker_id):
        return FailureKind.CALLER
    if isinstance(error, WorkerDiedError):
        return FailureKind.DEATH
    if isinstance(error, TimeoutError | ConnectionError):
        return FailureKind.PASSING
    return FailureKind.CALLER
