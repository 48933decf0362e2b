"""The requests of one round: those to the same replica go to it together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from rlightning.policy.pool import PolicyPool
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.types import ActionBatch, ObservationBatch

Request: TypeAlias = tuple[str, Task[ObservationBatch]]
Answer: TypeAlias = tuple[str, Task[ActionBatch]]
PoolOf: TypeAlias = Callable[[str], PolicyPool]


def ask_one_by_one(requests: Iterable[Request], pool_of: PoolOf) -> Iterator[Answer]:
    """Send each request when its answer is asked for."""
    for env_id, observation in requests:
        yield env_id, pool_of(env_id).act(env_id, observation)


def ask_together(requests: Iterable[Request], pool_of: PoolOf) -> Iterator[Answer]:
    """Hold requests back until all are there, or until there is no room for the next.

    In the latter case those that were sent are handed out before the wait.
    """
    sent: list[Answer] = []
    held: dict[PolicyPool, list[WorkerHandle]] = {}
    try:
        for env_id, observation in requests:
            pool = pool_of(env_id)
            if sent and not pool.has_room():
                _release(held)
                yield from sent
                sent.clear()
            if pool not in held:
                held[pool] = _held_members(pool)
            sent.append((env_id, pool.act(env_id, observation)))
    finally:
        _release(held)
    yield from sent


def _held_members(pool: PolicyPool) -> list[WorkerHandle]:
    handles = [member.handle for member in pool.membership.members()]
    for handle in handles:
        handle.hold_calls()
    return handles


def _release(held: dict[PolicyPool, list[WorkerHandle]]) -> None:
    for handles in held.values():
        for handle in handles:
            handle.release_calls()
    held.clear()
