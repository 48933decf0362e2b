"""An update with the fragments that reach the learner."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.env.group import EnvGroup
from rlightning.errors import WorkerDiedError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import Task
from rlightning.types import Fragment, UpdateReport


def update_with_survivors(
    environments: EnvGroup,
    policies: PolicyGroup,
    fragments: Sequence[Task[Fragment]],
    progress: float,
) -> UpdateReport | None:
    """Train on fragments; those are left out and counted that are gone with their node.

    A fragment lives where it was collected until the learner has fetched it, so it can be lost
    after its task has ended well. The learner has not begun then.

    Args:
        environments: Count what is dropped.
        policies: Whose learner trains.
        fragments: One task per environment worker.
        progress: Share of the whole training done so far, from 0 to 1.

    Returns:
        None if no fragment is left: nothing was trained.

    Raises:
        WorkerDiedError: If another worker has died, or nobody supervises.
    """
    while fragments:
        try:
            return policies.update(fragments, progress)
        except WorkerDiedError as error:
            if not environments.give_up_fragment(error):
                raise
            fragments = [task for task in fragments if task.worker_id != error.worker_id]
    return None
