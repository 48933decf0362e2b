"""Whose failure it is when a call did not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ray.exceptions import RayTaskError

from rlightning.errors import WorkerDiedError
from rlightning.runtime.base import Task
from rlightning.runtime.ray.ray_failures import LOSSES
from rlightning.runtime.ray.waiting_calls import RayCall, reference_of


def should_be_sent_again(call: RayCall) -> bool:
    """Return whether all arguments are sound by now, but one of them was not as it was sent.

    That is so if an argument is a request that another worker has answered after the first one
    failed, or a call that was itself sent again for that reason: the call went with a reference
    that is out of date.
    """
    return call.argument_error() is None and call.present_references() != call.task.sent_references


def failure_of_call(
    call: RayCall, error: BaseException, translate: Callable[[BaseException], BaseException]
) -> BaseException:
    """Return the error of a call that did not run, all of whose arguments have ended.

    The error of an argument is taken as it is: it names the worker whose failure it was.
    """
    argument_error = call.argument_error()
    if argument_error is not None:
        return argument_error
    cause = error.cause if isinstance(error, RayTaskError) else error
    if isinstance(cause, LOSSES):
        for task in call.argument_tasks:
            if _is_kept_as(task, getattr(cause, "object_ref_hex", None)):
                return WorkerDiedError(
                    f"the answer of {task.worker_id}.{task.method}() is gone with the node that "
                    f"kept it: {cause}; ask for it again",
                    worker_id=task.worker_id,
                )
    return translate(error)


def _is_kept_as(task: Task[Any], reference_hex: str | None) -> bool:
    reference = reference_of(task)
    return reference is not None and reference.hex() == reference_hex
