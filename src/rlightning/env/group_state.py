"""The random generators of a group of environment workers, to and from a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.attendance import Attendance
from rlightning.env.member import EnvMember
from rlightning.errors import WorkerDiedError
from rlightning.runtime.base import Task


def states_of_workers(submitter: TaskSubmitter, attendance: Attendance) -> dict[str, Any]:
    """Return the generators of every worker, with its incarnation, by id.

    Of one that is dead, under supervision, it is the state with which it will start anew.
    """
    members = attendance.members
    tasks = {env_id: submitter.submit(member.handle, "state") for env_id, member in members.items()}
    return {env_id: _state(members[env_id], task, attendance) for env_id, task in tasks.items()}


def _state(member: EnvMember, task: Task[Any], attendance: Attendance) -> dict[str, Any]:
    try:
        return {**task.result(), "incarnation": member.incarnation}
    except WorkerDiedError as error:
        if not attendance.is_loss(member.env_id, error):
            raise
        return member.fresh_state()


def restore_workers(
    submitter: TaskSubmitter, members: Iterable[EnvMember], states: Mapping[str, Any]
) -> None:
    """Give workers their generators; the next incarnation of each follows that of its state."""
    for member in members:
        own = states[member.env_id]
        member.incarnation = int(own["incarnation"])
        submitter.submit(member.handle, "restore", own).result()
