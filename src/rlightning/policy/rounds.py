"""The requests of one round: those to the same replica go to it together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self, TypeAlias

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
    with _HeldCalls() as held:
        for env_id, observation in requests:
            pool = pool_of(env_id)
            if sent and not pool.has_room():
                held.release()
                yield from sent
                sent.clear()
            held.hold(pool)
            sent.append((env_id, pool.act(env_id, observation)))
    yield from sent


class _HeldCalls:
    """Holds the calls to the replicas of pools back; a context manager."""

    def __init__(self) -> None:
        self._pools: set[PolicyPool] = set()
        self._handles: list[WorkerHandle] = []

    def hold(self, pool: PolicyPool) -> None:
        if pool in self._pools:
            return
        self._pools.add(pool)
        for member in pool.membership.members():
            member.handle.hold_calls()
            self._handles.append(member.handle)

    def release(self) -> None:
        for handle in self._handles:
            handle.release_calls()
        self._handles.clear()
        self._pools.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()
