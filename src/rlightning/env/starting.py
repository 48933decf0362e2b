"""Starting environment workers, and asking them who they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.identities import refuse_shared_ids
from rlightning.env.member import EnvMember
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import EnvironmentFailedError
from rlightning.runtime.base import Runtime


def start_members(runtime: Runtime, members: Sequence[EnvMember]) -> None:
    """Start workers at the same time; those that were started before an error have a handle."""
    handles = runtime.spawn_all(member.first_spec for member in members)
    for member, handle in zip(members, handles, strict=True):
        member.handle = handle


def introduce(submitter: TaskSubmitter, members: Sequence[EnvMember]) -> dict[str, SpaceKind]:
    """Ask workers for their ids and kinds, note the kinds, and return them by name, in order.

    Raises:
        EnvironmentFailedError: If two of them stamp their data with one id.
    """
    refuse_shared_ids(_ask_all(submitter, members, "identity"))
    kinds: dict[str, SpaceKind] = _ask_all(submitter, members, "kind")
    for member in members:
        member.kind = kinds[member.env_id].name
    return {kind.name: kind for kind in kinds.values()}


def introduce_newcomer(submitter: TaskSubmitter, member: EnvMember, kind: str) -> None:
    """Ask a worker that joins a group for its id and its kind, and note the kind.

    Raises:
        EnvironmentFailedError: If it stamps another id, or has another kind than this.
    """
    env_id = member.env_id
    stamped = _ask_all(submitter, [member], "identity")[env_id]
    if stamped != env_id:
        raise EnvironmentFailedError(
            f"expected the new worker to have the id {env_id!r}, got {stamped!r}; pass the "
            "worker's index on",
            worker_id=env_id,
        )
    introduce(submitter, [member])
    if member.kind != kind:
        raise EnvironmentFailedError(
            f"expected {env_id} to have the spaces {kind}, got {member.kind}; an "
            "environment must have the same spaces each time it is made",
            worker_id=env_id,
        )


def _ask_all(submitter: TaskSubmitter, members: Sequence[EnvMember], method: str) -> dict[str, Any]:
    tasks = {member.env_id: submitter.submit(member.handle, method) for member in members}
    return {env_id: task.result() for env_id, task in tasks.items()}
