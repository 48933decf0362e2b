"""A choice among free workers by load, as a submitter asks for it."""

from __future__ import annotations

from collections.abc import Callable

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.policy.utils.router import SimpleRouter
from rlightning.runtime.base import WorkerHandle


def least_loaded(submitter: TaskSubmitter) -> Callable[[list[WorkerHandle]], WorkerHandle]:
    """Return what chooses the worker with the fewest calls in flight."""
    router = SimpleRouter()
    return lambda free: free[router.assign(submitter.loads(free), 1)[0]]
