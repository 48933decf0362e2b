"""The eval policies of one kind of environment, and the router that chooses between them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from rlightning.clock import Clock, monotonic_clock
from rlightning.dispatch.circuit_breaker import BreakerLimits
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.failover import Attempt, FailoverTask, is_fault_of_another
from rlightning.policy.membership import PoolMembership, RouterFactory
from rlightning.policy.utils.router import AsyncRouter, SyncRouter
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.types import ActionBatch, ObservationBatch


ACT = "act"


class PolicyPool:
    """Sends each request to the eval policy that the router chose.

    A replica that fails several times in a row rests and is probed later; a dead one is taken
    out. A request whose replica failed is sent once to each of the others, least loaded first.

    Thread-safe.

    Args:
        handles: The replicas, in the order of their eval ids.
        create_router: Makes the router for a list of eval policies.
        submitter: Sends the requests, bounded per replica.
        limits: When a failing replica rests.
        clock: Seconds for the rests.
    """

    def __init__(
        self,
        handles: Sequence[WorkerHandle],
        create_router: RouterFactory,
        submitter: TaskSubmitter,
        limits: BreakerLimits | None = None,
        clock: Clock = monotonic_clock,
    ) -> None:
        self._submitter = submitter
        members = [EvalPolicy(handle, submitter) for handle in handles]
        self.membership = PoolMembership(members, create_router, limits, clock)
        self._clock = clock
        self._router_wait_seconds = 0.0
        self._count_lock = threading.Lock()
        self._tasks: Counter[tuple[str, str]] = Counter()
        self._errors: Counter[str] = Counter()
        submitter.add_release_listener(self.membership.notify_available)

    def act(self, env_id: str, observation: Task[ObservationBatch]) -> Task[ActionBatch]:
        """Ask the pool for the actions of one environment worker.

        Waits until a replica has room; the router chooses after the wait.

        Raises:
            NoEvalPolicyError: If no replica is left that may be asked.
            RoutingTimeoutError: If no replica becomes free in time.
            DispatchTimeoutError: If the chosen replica has no room in time.
        """
        task, policy = self._send_routed(env_id, observation)
        if task.is_done() and task.error() is None:
            self.membership.record_success(policy)
            return task
        judge = _Judge(self, env_id, observation)
        return FailoverTask((task, policy), judge, self._submitter.timeout_seconds)

    def take_task_counts(self) -> dict[tuple[str, str], int]:
        """Return requests by (environment worker, replica) since the last call of this."""
        with self._count_lock:
            counts, self._tasks = self._tasks, Counter()
        return dict(counts)

    def error_counts(self) -> dict[str, int]:
        """Return failed requests by replica, since the start."""
        with self._count_lock:
            return dict(self._errors)

    def router_wait_seconds(self) -> float:
        """Return how long requests waited within a router that waits, summed."""
        return self._router_wait_seconds

    def loads(self) -> dict[str, int]:
        """Return requests in flight by replica, exact, from the sender's ledger."""
        members = self.membership.members()
        loads = self._submitter.loads([member.handle for member in members])
        return {member.replica_id: load for member, load in zip(members, loads, strict=True)}

    def _send_routed(self, env_id: str, observation: Task[ObservationBatch]) -> Attempt:
        routable, router = self.membership.for_routing()
        if isinstance(router, SyncRouter):
            asked_at = self._clock()
            policy: EvalPolicy = router.select_policy(env_id)
            self._router_wait_seconds += self._clock() - asked_at
            return self._send(env_id, policy, observation), policy
        choice = _LoadChoice(router, routable, self._submitter, env_id)
        try:
            task = self._submitter.submit_to_any(choice.handles, choice, ACT, observation)
        except _WaitsAtHomeError:
            return self._send(env_id, choice.policy, observation), choice.policy
        self._count(env_id, choice.policy)
        return task, choice.policy

    def _send(
        self, env_id: str, policy: EvalPolicy, observation: Task[ObservationBatch]
    ) -> Task[ActionBatch]:
        task = self._submitter.submit(policy.handle, ACT, observation)
        self._count(env_id, policy)
        return task

    def _count(self, env_id: str, policy: EvalPolicy) -> None:
        with self._count_lock:
            self._tasks[env_id, policy.replica_id] += 1

    def send_elsewhere(
        self, env_id: str, observation: Task[ObservationBatch], tried: frozenset[str]
    ) -> Attempt | None:
        """Send a request that failed to the least loaded replica that has not had it."""
        members = [each for each in self.membership.routable() if each.replica_id not in tried]
        if not members:
            return None
        loads = self._submitter.loads([member.handle for member in members])
        chosen = members[loads.index(min(loads))]
        return self._send(env_id, chosen, observation), chosen

    def count_error(self, policy: EvalPolicy, error: Exception) -> None:
        """Count a replica's failure, and let it rest or leave if that is due."""
        with self._count_lock:
            self._errors[policy.replica_id] += 1
        self.membership.record_failure(policy, error)


class _WaitsAtHomeError(Exception):
    """The router wants a replica that is full, although another has room."""


class _LoadChoice:
    """Lets an asynchronous router choose at the moment at which some replica has room.

    Attributes:
        policy: What was chosen last.
    """

    def __init__(
        self,
        router: AsyncRouter,
        policies: Sequence[EvalPolicy],
        submitter: TaskSubmitter,
        env_id: str,
    ) -> None:
        self._router = router
        self._policies = policies
        self._submitter = submitter
        self._env_id = env_id
        self.handles = [policy.handle for policy in policies]
        self.policy = policies[0]

    def __call__(self, with_room: list[WorkerHandle]) -> WorkerHandle:
        loads = self._submitter.loads(self.handles)
        self.policy = self._policies[self._router.assign(loads, 1, [self._env_id])[0]]
        if self.policy.handle not in with_room:
            raise _WaitsAtHomeError
        return self.policy.handle


class _Judge:
    """Decides for one request what becomes of a failed attempt."""

    def __init__(self, pool: PolicyPool, env_id: str, observation: Task[ObservationBatch]) -> None:
        self._pool = pool
        self._env_id = env_id
        self._observation = observation

    def succeeded(self, policy: EvalPolicy) -> None:
        self._pool.membership.record_success(policy)

    def send_elsewhere(
        self, policy: EvalPolicy, error: Exception, tried: frozenset[str]
    ) -> Attempt | None:
        if self._observation.error() is not None or is_fault_of_another(policy, error):
            return None
        self._pool.count_error(policy, error)
        return self._pool.send_elsewhere(self._env_id, self._observation, tried)
