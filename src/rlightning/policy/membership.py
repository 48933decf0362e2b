"""Who belongs to a pool, and who of them may be routed to now."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.circuit_breaker import BreakerLimits, CircuitBreaker
from rlightning.errors import NoEvalPolicyError, RoutingError, WorkerDiedError
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.utils.router import AsyncRouter, SyncRouter
from rlightning.runtime.lost_worker import LostWorker

Router: TypeAlias = SyncRouter | AsyncRouter
RouterFactory: TypeAlias = Callable[[Sequence[EvalPolicy]], Router]


class _Routing(NamedTuple):
    """Who may be asked, and the router that chooses; changed as one.

    Attributes:
        routable: The replicas that may be sent a request.
        router: Chooses between them.
        sync_router: The same if it is a synchronous one, else None.
    """

    routable: tuple[EvalPolicy, ...]
    router: Router
    sync_router: SyncRouter | None

    @classmethod
    def of(cls, routable: tuple[EvalPolicy, ...], router: Router) -> _Routing:
        """Look at the kind of the router once, because it is asked for every request."""
        return cls(routable, router, router if isinstance(router, SyncRouter) else None)


class PoolMembership:
    """Keeps the router in step with the replicas that live and do not rest.

    Thread-safe. Reading costs no lock; changes take one.

    Args:
        members: The replicas at the start, in the order of their eval ids.
        create_router: Makes the router for a list of eval policies.
        limits: When a failing replica rests.
        clock: Seconds for the rests.
        on_change: Called after somebody came or went, so that waiting requests look again.
    """

    def __init__(
        self,
        members: Sequence[EvalPolicy],
        create_router: RouterFactory,
        limits: BreakerLimits | None = None,
        clock: Clock = monotonic_clock,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        self._create_router = create_router
        self._breaker = CircuitBreaker(limits)
        self._clock = clock
        self._on_change = on_change
        self._lock = threading.Lock()
        self._members = {member.replica_id: member for member in members}
        self._lost: dict[str, LostWorker] = {}
        self._last_error: BaseException | None = None
        self._earlier_counts: Counter[str] = Counter()
        self._routing = _Routing.of(tuple(members), create_router(members))

    def members(self) -> list[EvalPolicy]:
        """Return the living replicas, resting ones too."""
        return list(self._members.values())

    def lost(self) -> list[LostWorker]:
        """Return the replicas that died and did not come back, also those nobody missed yet."""
        self.remove_dead()
        return list(self._lost.values())

    def routable(self) -> tuple[EvalPolicy, ...]:
        """Return the replicas that may be sent a request."""
        return self._routing.routable

    def for_routing(self) -> _Routing:
        """Return who may be asked, and the router that chooses between them.

        Replicas whose rest is over are taken back first.

        Raises:
            NoEvalPolicyError: If nobody may be asked.
        """
        if self._breaker.is_watching:
            self._take_back_rested()
        routing = self._routing
        if not routing.routable:
            raise self._nobody_left()
        return routing

    def add(self, member: EvalPolicy) -> None:
        """Let a replica take part; one of the same id is replaced."""
        with self._lock:
            former = self._members.get(member.replica_id)
            if former is not None:
                self._exclude(former)
            self._members = {**self._members, member.replica_id: member}
            self._lost.pop(member.replica_id, None)
            self._breaker.record_success(member.replica_id)
            self._include(member)
        self._on_change()

    def remove(self, member: EvalPolicy) -> None:
        """Send a replica no further request; nothing happens if it has left or was replaced."""
        self._let_go(member, None)

    def _let_go(self, member: EvalPolicy, lost: LostWorker | None) -> None:
        with self._lock:
            if self._members.get(member.replica_id) is not member:
                return
            if lost is not None:
                self._lost[member.replica_id] = lost
            self._members = {
                name: each for name, each in self._members.items() if each is not member
            }
            self._breaker.record_success(member.replica_id)
            self._exclude(member)
        self._on_change()

    def remove_dead(self) -> None:
        """Take out those that are known to have died, before a request is sent to them."""
        for member in self._members.values():
            if not member.handle.is_alive():
                name = member.replica_id
                self.record_failure(member, WorkerDiedError(f"{name} has died", worker_id=name))

    def record_success(self, member: EvalPolicy) -> None:
        """Forget earlier failures of a replica; a late answer of a resting one changes nothing."""
        if not self._breaker.is_watching:
            return
        with self._lock:
            if member in self._routing.routable:
                self._breaker.record_success(member.replica_id)

    def record_failure(self, member: EvalPolicy, error: BaseException) -> None:
        """Take out a replica that died; let one rest that failed too often.

        A failure of one that rests already or has left changes nothing.
        """
        self._last_error = error
        if isinstance(error, WorkerDiedError):
            self._let_go(member, LostWorker.seen_in(member.handle, error))
            return
        with self._lock:
            if member not in self._routing.routable:
                return
            if self._breaker.record_failure(member.replica_id, self._clock()):
                self._exclude(member)
        self._on_change()

    def rebuild_router(self) -> None:
        """Make the router anew, after the nodes of environment workers have changed."""
        with self._lock:
            members, router = self._routing.routable, self._routing.router
            if members:
                self._earlier_counts.update(router.decision_counts)
                self._routing = _Routing.of(members, self._create_router(members))
        self._on_change()

    def nobody_left(self, reason: BaseException) -> NoEvalPolicyError:
        """Return the error of a request that nobody can answer, for a new reason."""
        self._last_error = reason
        return self._nobody_left()

    def router_counts(self) -> dict[str, int]:
        """Return the router's decisions by reason, also those of routers it replaced."""
        with self._lock:
            counts = Counter(self._routing.router.decision_counts)
            counts.update(self._earlier_counts)
        return dict(counts)

    def released(self, worker_id: str) -> None:
        """Tell a router that waits that one of the replicas may have become free."""
        sync_router = self._routing.sync_router
        if sync_router is not None and worker_id in self._members:
            sync_router.notify_available()

    def _take_back_rested(self) -> None:
        with self._lock:
            rested = [
                self._members[name]
                for name in self._breaker.take_due(self._clock())
                if name in self._members
            ]
            for member in rested:
                self._include(member)
        if rested:
            self._on_change()

    def _include(self, member: EvalPolicy) -> None:
        members = (*self._routing.routable, member)
        router = self._changed(lambda router: router.add_policy(member, member.node_id), members)
        self._routing = _Routing.of(members, router)

    def _exclude(self, member: EvalPolicy) -> None:
        if member in self._routing.routable:
            members = tuple(each for each in self._routing.routable if each is not member)
            router = self._changed(lambda router: router.remove_policy(member), members)
            self._routing = _Routing.of(members, router)

    def _changed(
        self, change: Callable[[SyncRouter], None], members: Sequence[EvalPolicy]
    ) -> Router:
        """Return the router for these members; one that takes no changes is built anew."""
        router = self._routing.router
        if isinstance(router, SyncRouter):
            with suppress(RoutingError):
                change(router)
                return router
        if not members:
            return router
        self._earlier_counts.update(router.decision_counts)
        return self._create_router(members)

    def _nobody_left(self) -> NoEvalPolicyError:
        resting = ", ".join(self._breaker.resting()) or "none"
        error = NoEvalPolicyError(
            f"expected an eval policy that may be asked, got none: {len(self._members)} alive, "
            f"resting after failures: {resting}; last failure: {self._last_error!r}; "
            "look into that failure, or add replicas"
        )
        error.__cause__ = self._last_error
        return error
