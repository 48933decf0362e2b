"""From Ray's exceptions to ours: whose failure, and of which of the three kinds."""

from __future__ import annotations

import ray.exceptions as of_ray

from rlightning.errors import TaskTimeoutError, WorkerDiedError, WorkerError

DEATHS = (
    of_ray.RayActorError,
    of_ray.WorkerCrashedError,
    of_ray.NodeDiedError,
    of_ray.OutOfMemoryError,
    of_ray.LocalRayletDiedError,
    of_ray.ActorUnschedulableError,
)
"""What Ray raises when the process that should answer is gone."""

LOSSES = (of_ray.ObjectLostError, of_ray.ReferenceCountingAssertionError)
"""What Ray raises when an answer existed and is gone with the node that kept it."""


STORE_IS_FULL = (of_ray.ObjectStoreFullError, of_ray.OutOfDiskError)
"""What Ray raises when a value finds no room: in the store, and on the disk it spills to."""


def told(error: BaseException) -> str:
    """Return what Ray says of an end, in few words; of one for want of memory, what to do."""
    if not isinstance(error, of_ray.OutOfMemoryError):
        return str(error)
    words = " ".join(str(error).split("Object store memory usage")[0].split())
    return (
        f"out of memory: {words}; the memory monitor of Ray ends the newest workers of a node "
        "first, also those that need little: give the workers more memory "
        "(cluster.placement.<env|eval|train>.memory keeps it for them), put fewer on a node, or "
        "set RAY_memory_usage_threshold where Ray is started"
    )


def is_death(error: BaseException, actor_id: str) -> bool:
    """Return whether Ray says that this actor's process is gone, and not that of another."""
    if isinstance(error, of_ray.RayTaskError):
        return False
    if isinstance(error, of_ray.ActorUnavailableError):
        return False
    named = getattr(error, "actor_id", None)
    return isinstance(error, DEATHS) and named in (None, actor_id)


def is_unreachable(error: BaseException) -> bool:
    """Return whether Ray lost an actor from sight: it may be dead, or a connection broke."""
    return isinstance(error, of_ray.ActorUnavailableError)


def translated(error: BaseException, worker_id: str, where: str) -> BaseException:
    """Return the error of a call that the worker did not answer itself.

    Args:
        error: What Ray raised.
        worker_id: To whom the call was sent.
        where: Its incarnation and node, for the message.
    """
    if not isinstance(error, of_ray.RayError):
        return error
    if isinstance(error, of_ray.RayTaskError):
        return _of_task(error, worker_id, where)
    if isinstance(error, of_ray.GetTimeoutError):
        found: WorkerError = TaskTimeoutError(str(error), worker_id=worker_id)
    elif isinstance(error, (*DEATHS, *LOSSES)) and not isinstance(
        error, of_ray.ActorUnavailableError
    ):
        found = WorkerDiedError(
            f"expected an answer of worker {worker_id!r} ({where}), but it died: {told(error)}; "
            "send the call to another worker or spawn this one again",
            worker_id=worker_id,
        )
    elif isinstance(error, of_ray.ActorUnavailableError):
        found = TaskTimeoutError(
            f"worker {worker_id!r} ({where}) cannot be reached: {error}", worker_id=worker_id
        )
    elif isinstance(error, STORE_IS_FULL):
        found = _store_is_full(error, worker_id, where)
    else:
        found = WorkerError(
            f"a call to worker {worker_id!r} ({where}) failed in Ray: "
            f"{type(error).__name__}: {error}",
            worker_id=worker_id,
        )
    found.__cause__ = error
    return found


def _store_is_full(error: BaseException, worker_id: str, where: str) -> WorkerError:
    words = " ".join(str(error).split())
    return WorkerError(
        f"expected room in Ray's object store for what worker {worker_id!r} ({where}) is given or "
        f"answers, got a full store and a full disk ({type(error).__name__}: {words}); "
        "raise cluster.object_store_mib (of a cluster that you joined: --object-store-memory of "
        "`ray start`), free the disk to which Ray spills, or make observations or fragments "
        "smaller",
        worker_id=worker_id,
    )


def _of_task(error: of_ray.RayTaskError, worker_id: str, where: str) -> BaseException:
    """Return what went wrong around a method: an argument or the answer could not be read.

    The worker lives, whatever became of the one that should have made the argument.
    """
    cause: object = error.cause
    if isinstance(cause, STORE_IS_FULL):
        return _store_is_full(cause, worker_id, where)
    if not isinstance(cause, BaseException) or isinstance(cause, of_ray.RayError):
        cause = WorkerError(
            f"a call to worker {worker_id!r} ({where}) could not be run: {error}",
            worker_id=worker_id,
        )
    cause.add_note(f"raised in worker {worker_id!r} ({where}):\n{error}")
    return cause
