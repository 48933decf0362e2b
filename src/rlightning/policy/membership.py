"""Who belongs to a pool, and who of them may be routed to now."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeGuard

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.circuit_breaker import BreakerLimits, CircuitBreaker
from rlightning.errors import NoEvalPolicyError, WorkerDiedError
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.utils.router import AsyncRouter, SyncRouter

Router: TypeAlias = SyncRouter | AsyncRouter
RouterFactory: TypeAlias = Callable[[Sequence[EvalPolicy]], Router]


class PoolMembership:
    """Keeps the router in step with the replicas that live and do not rest.

    Thread-safe. Reading costs no lock; changes take one.

    Args:
        members: The replicas at the start, in the order of their eval ids.
        create_router: Makes the router for a list of eval policies.
        limits: When a failing replica rests.
        clock: Seconds for the rests.
    """

    def __init__(
        self,
        members: Sequence[EvalPolicy],
        create_router: RouterFactory,
        limits: BreakerLimits | None = None,
        clock: Clock = monotonic_clock,
    ) -> None:
        self._create_router = create_router
        self._breaker = CircuitBreaker(limits)
        self._clock = clock
        self._lock = threading.Lock()
        self._members = {member.replica_id: member for member in members}
        self._last_error: BaseException | None = None
        self._earlier_counts: Counter[str] = Counter()
        self._routing = (tuple(members), create_router(members))

    def members(self) -> list[EvalPolicy]:
        """Return the living replicas, resting ones too."""
        return list(self._members.values())

    def routable(self) -> tuple[EvalPolicy, ...]:
        """Return the replicas that may be sent a request."""
        return self._routing[0]

    def for_routing(self) -> tuple[tuple[EvalPolicy, ...], Router]:
        """Return who may be asked, and the router that chooses between them.

        Replicas whose rest is over are taken back first.

        Raises:
            NoEvalPolicyError: If nobody may be asked.
        """
        if self._breaker.is_watching:
            self._take_back_rested()
        routing = self._routing
        if not routing[0]:
            raise self._nobody_left()
        return routing

    def add(self, member: EvalPolicy) -> None:
        """Let a replica take part; one of the same id is replaced."""
        with self._lock:
            former = self._members.pop(member.replica_id, None)
            if former is not None:
                self._exclude(former)
            self._members[member.replica_id] = member
            self._breaker.record_success(member.replica_id)
            self._include(member)

    def remove(self, member: EvalPolicy) -> None:
        """Send a replica no further request."""
        with self._lock:
            if self._members.get(member.replica_id) is member:
                del self._members[member.replica_id]
                self._breaker.record_success(member.replica_id)
                self._exclude(member)

    def record_success(self, member: EvalPolicy) -> None:
        """Forget earlier failures of a replica."""
        if self._breaker.is_watching:
            self._breaker.record_success(member.replica_id)

    def record_failure(self, member: EvalPolicy, error: BaseException) -> None:
        """Take out a replica that died; let one rest that failed too often."""
        self._last_error = error
        if isinstance(error, WorkerDiedError):
            self.remove(member)
        elif self._breaker.record_failure(member.replica_id, self._clock()):
            with self._lock:
                self._exclude(member)

    def router_counts(self) -> dict[str, int]:
        """Return the router's decisions by reason, also those of routers it replaced."""
        counts = Counter(self._routing[1].decision_counts)
        counts.update(self._earlier_counts)
        return dict(counts)

    def notify_available(self) -> None:
        """Tell a waiting router that a replica may have become free."""
        router = self._routing[1]
        if isinstance(router, SyncRouter):
            router.notify_available()

    def _take_back_rested(self) -> None:
        for replica_id in self._breaker.take_due(self._clock()):
            with self._lock:
                if replica_id in self._members:
                    self._include(self._members[replica_id])

    def _include(self, member: EvalPolicy) -> None:
        routable, router = self._routing
        if _takes_changes(router):
            router.add_policy(member, member.node_id)
        else:
            router = self._rebuilt(router, (*routable, member))
        self._routing = ((*routable, member), router)

    def _exclude(self, member: EvalPolicy) -> None:
        routable, router = self._routing
        if member not in routable:
            return
        left = tuple(each for each in routable if each is not member)
        if _takes_changes(router):
            router.remove_policy(member)
        elif left:
            router = self._rebuilt(router, left)
        self._routing = (left, router)

    def _rebuilt(self, router: Router, members: Sequence[EvalPolicy]) -> Router:
        self._earlier_counts.update(router.decision_counts)
        return self._create_router(members)

    def _nobody_left(self) -> NoEvalPolicyError:
        resting = ", ".join(self._breaker.resting()) or "none"
        error = NoEvalPolicyError(
            f"expected an eval policy that may be asked, got none: {len(self._members)} alive, "
            f"resting after failures: {resting}; last failure: {self._last_error!r}"
        )
        error.__cause__ = self._last_error
        return error


def _takes_changes(router: Router) -> TypeGuard[SyncRouter]:
    """Return whether members may come and go; other routers are built anew."""
    return isinstance(router, SyncRouter) and type(router).add_policy is not SyncRouter.add_policy
