"""The eval policies of one kind of environment, and the router that chooses between them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import NoEvalPolicyError, RoutingValueError, WorkerLostError
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.failover import Attempt, FailoverTask, is_fault_of_another
from rlightning.policy.membership import PoolMembership, RouterFactory
from rlightning.policy.open_requests import OpenRequests
from rlightning.policy.room_search import (
    RouterChoice,
    WaitsAtHomeError,
    least_loaded,
    send_to_any,
)
from rlightning.policy.traffic import Traffic
from rlightning.policy.utils.router import SyncRouter
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.types import ActionBatch, ObservationBatch

ACT = "act"


class PolicyPool:
    """Sends each request to the eval policy that the router chose.

    A replica that fails several times in a row rests and is probed later; a dead one is taken
    out. A request whose replica failed is sent once to each of the others, least loaded first.

    Thread-safe.

    Attributes:
        traffic: Counts requests between nodes, if somebody wants to know.
        revive: Called, from any thread, when a request finds that nobody may be asked. Restarts
            replicas if all have died; returns whether there is somebody now.

    Args:
        handles: The replicas, in the order of their eval ids.
        create_router: Makes the router for a list of eval policies.
        submitter: Sends the requests, bounded per replica.
        limits: When a failing replica rests.
        clock: Seconds for the rests.
        traffic: Counts requests between nodes.
    """

    def __init__(
        self,
        handles: Sequence[WorkerHandle],
        create_router: RouterFactory,
        submitter: TaskSubmitter,
        limits: BreakerLimits | None = None,
        clock: Clock = monotonic_clock,
        traffic: Traffic | None = None,
    ) -> None:
        self.traffic = traffic
        self.revive: Callable[[], bool] = lambda: False
        self._submitter = submitter
        members = [EvalPolicy(handle, submitter) for handle in handles]
        self.membership = PoolMembership(
            members, create_router, limits, clock, submitter.notify_workers_changed
        )
        self._clock = clock
        self._router_wait_seconds = 0.0
        self._open = OpenRequests()
        self._count_lock = threading.Lock()
        self._tasks: Counter[tuple[str, str]] = Counter()
        self._errors: Counter[str] = Counter()
        self._retried: Counter[str] = Counter()
        submitter.ledger.on_release(self.membership.released)

    def act(self, env_id: str, observation: Task[ObservationBatch]) -> Task[ActionBatch]:
        """Ask the pool for the actions of one environment worker.

        Waits until a replica has room; the router chooses after the wait.

        Raises:
            NoEvalPolicyError: If no replica is left that may be asked.
            RoutingTimeoutError: If no replica becomes free in time.
            DispatchTimeoutError: If the chosen replica has no room in time.
        """
        task, policy = self._send_first(env_id, observation)
        if task.is_done() and task.error() is None:
            self.membership.record_success(policy)
            return task
        judge = _Judge(self, env_id, observation)
        request = FailoverTask((task, policy), judge, self._submitter.timeout_seconds)
        self._open.add(env_id, request, observation)
        return request

    def _send_first(self, env_id: str, observation: Task[ObservationBatch]) -> Attempt:
        while True:
            try:
                return self._send_routed(env_id, observation)
            except NoEvalPolicyError as error:
                self._revive(error)

    def _revive(self, error: NoEvalPolicyError) -> None:
        """Have dead replicas restarted, for a request that finds nobody.

        Raises:
            NoEvalPolicyError: If that is not possible.
        """
        try:
            is_revived = self.revive()
        except WorkerLostError as lost:
            raise self.membership.nobody_left(lost) from lost
        if not is_revived:
            raise error

    def add(self, handle: WorkerHandle) -> None:
        """Let a replica take part; one of the same id, that died, is replaced."""
        self.membership.add(EvalPolicy(handle, self._submitter))

    def take_task_counts(self) -> dict[tuple[str, str], int]:
        """Return requests by (environment worker, replica) since the last call of this."""
        with self._count_lock:
            counts, self._tasks = self._tasks, Counter()
        return dict(counts)

    def error_counts(self) -> dict[str, int]:
        """Return failed requests by replica, since the start."""
        with self._count_lock:
            return dict(self._errors)

    def retried_calls(self) -> dict[str, int]:
        """Return requests that went to another one, by the replica that failed, so far."""
        with self._count_lock:
            return dict(self._retried)

    def router_wait_seconds(self) -> float:
        """Return how long requests waited within a router that waits, summed."""
        return self._router_wait_seconds

    def has_room(self) -> bool:
        """Return whether any replica could take a request now."""
        return any(member.is_available() for member in self.membership.members())

    def can_hold_calls(self) -> bool:
        """Return whether replicas may be sent the requests of a round together."""
        return any(member.handle.can_hold_calls for member in self.membership.members())

    def loads(self) -> dict[str, int]:
        """Return requests in flight by replica, exact, from the sender's ledger."""
        return {member.replica_id: member.load for member in self.membership.members()}

    def _send_routed(self, env_id: str, observation: Task[ObservationBatch]) -> Attempt:
        router = self.membership.for_routing().sync_router
        if router is None:
            return self._counted(env_id, self._send_by_load(env_id, observation))
        asked_at = self._clock()
        policy = self._selected(router, env_id)
        waited_seconds = self._clock() - asked_at
        task = self._submitter.submit(policy.handle, ACT, observation)
        return self._counted(env_id, (task, policy), waited_seconds)

    def _selected(self, router: SyncRouter, env_id: str) -> EvalPolicy:
        try:
            policy: EvalPolicy = router.select_policy(env_id)
        except RoutingValueError:
            self.membership.for_routing()  # the last one may have left while this one waited
            raise
        return policy

    def _send_by_load(self, env_id: str, observation: Task[ObservationBatch]) -> Attempt:
        choice = RouterChoice(self.membership, env_id)
        try:
            return send_to_any(self._submitter, choice.candidates, choice.choose, ACT, observation)
        except WaitsAtHomeError:
            return send_to_any(
                self._submitter, choice.candidates_at_home, least_loaded, ACT, observation
            )

    def _counted(self, env_id: str, attempt: Attempt, waited_seconds: float = 0.0) -> Attempt:
        with self._count_lock:
            self._router_wait_seconds += waited_seconds
            self._tasks[env_id, attempt[1].replica_id] += 1
        if self.traffic is not None:
            self.traffic.sent(env_id, attempt[1].node_id)
        return attempt

    def send_elsewhere(
        self, env_id: str, observation: Task[ObservationBatch], tried: frozenset[EvalPolicy]
    ) -> Attempt | None:
        """Send a request that failed to the least loaded replica that has not had it.

        It goes beyond the limit of pending tasks if everybody is full of requests that cannot
        be answered yet: their observations may wait for the answer of this one.

        Returns:
            None if every replica that may be asked has had it.

        Raises:
            NoEvalPolicyError: If nobody may be asked.
            DispatchTimeoutError: If none of the others has room in time.
        """

        def untried() -> list[EvalPolicy]:
            self.membership.remove_dead()
            routable = self.membership.for_routing().routable
            others = [policy for policy in routable if policy not in tried]
            if not others:
                raise _NobodyElseError
            if all(self._waits_for_others(policy) for policy in others):
                raise _WaitsForThisError(least_loaded(others))
            return others

        while True:
            try:
                attempt = send_to_any(self._submitter, untried, least_loaded, ACT, observation)
                return self._counted(env_id, attempt)
            except _NobodyElseError:
                return None
            except _WaitsForThisError as found:
                policy = found.policy
                task = self._submitter.submit_over_limit(policy.handle, ACT, observation)
                return self._counted(env_id, (task, policy))
            except NoEvalPolicyError as error:
                self._revive(error)

    def _waits_for_others(self, policy: EvalPolicy) -> bool:
        """Return whether a full replica has nothing that it could answer now."""
        return not policy.is_available() and not self._open.num_ready(policy)

    def count_error(self, policy: EvalPolicy, error: Exception) -> None:
        """Count a replica's failure, and let it rest or leave if that is due."""
        with self._count_lock:
            self._errors[policy.replica_id] += 1
        self.membership.record_failure(policy, error)

    def count_retry(self, policy: EvalPolicy) -> None:
        """Count a request that another replica was sent after this one failed."""
        with self._count_lock:
            self._retried[policy.replica_id] += 1


class _NobodyElseError(Exception):
    """A request has been at every replica."""


class _WaitsForThisError(Exception):
    """All seats are held by requests that may wait for the one that looks for a seat."""

    def __init__(self, policy: EvalPolicy) -> None:
        super().__init__(policy.replica_id)
        self.policy = policy


class _Judge:
    """Decides for one request what becomes of a failed attempt."""

    def __init__(self, pool: PolicyPool, env_id: str, observation: Task[ObservationBatch]) -> None:
        self._pool = pool
        self._env_id = env_id
        self._observation = observation

    def succeeded(self, policy: EvalPolicy) -> None:
        self._pool.membership.record_success(policy)

    def send_elsewhere(
        self, policy: EvalPolicy, error: Exception, tried: frozenset[EvalPolicy]
    ) -> Attempt | None:
        self._count_failure(policy)
        if self._observation.error() is not None or is_fault_of_another(policy, error):
            return None
        self._pool.count_error(policy, error)
        attempt = self._pool.send_elsewhere(self._env_id, self._observation, tried)
        if attempt is not None:
            self._pool.count_retry(policy)
        return attempt

    def _count_failure(self, policy: EvalPolicy) -> None:
        traffic = self._pool.traffic
        if traffic is None:
            return
        if self._observation.error() is None:
            traffic.not_answered(self._env_id, policy.node_id)
        else:
            traffic.never_asked(self._env_id, policy.node_id)
