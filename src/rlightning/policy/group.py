"""All eval policies and the learner, as the engine sees them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rlightning.dispatch.drain import wait_until_idle
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.errors import RoutingValueError, WorkerDiedError
from rlightning.metrics.node_traffic import NodePair, NodeTraffic
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.pool import PolicyPool
from rlightning.policy.rounds import ask_one_by_one, ask_together
from rlightning.policy.served import ServedEnvironments
from rlightning.registry import did_you_mean
from rlightning.runtime.base import Task, WorkerHandle
from rlightning.runtime.lost_worker import LostWorker
from rlightning.types import ActionBatch, Fragment, ObservationBatch, UpdateReport
from rlightning.weights.snapshot import WeightsSnapshot


class PolicyGroup:
    """One pool of replicas per kind of environment, and one learner for all.

    Attributes:
        served: The environment workers that are answered; they may join and leave.

    Args:
        pools: Pool of each kind.
        kinds: Kind of each environment worker.
        learner: Updates and publishes.
        submitter: Sends the requests of all pools.
        update_timeout_seconds: Longest call to the learner. Weights may take as much longer to
            reach a replica as a request may wait.
    """

    def __init__(
        self,
        pools: Mapping[str, PolicyPool],
        kinds: Mapping[str, str],
        learner: WorkerHandle,
        submitter: TaskSubmitter,
        update_timeout_seconds: float = 3600.0,
    ) -> None:
        self._pools = dict(pools)
        self.served = ServedEnvironments(self._pools, kinds)
        self._learner = learner
        self._submitter = submitter
        self._update_timeout_seconds = update_timeout_seconds
        self._publish_timeout_seconds = update_timeout_seconds + submitter.timeout_seconds
        self._publishing = threading.Lock()
        self._snapshots: dict[str, Task[WeightsSnapshot]] = {}
        self.policy_version = -1

    @property
    def pools(self) -> Mapping[str, PolicyPool]:
        """The pool of each kind."""
        return self._pools

    def act(self, env_id: str, observation: Task[ObservationBatch]) -> Task[ActionBatch]:
        """Return the task of the actions for the observations that a task holds.

        Raises:
            RoutingValueError: If the environment worker is not known.
            NoEvalPolicyError: If no replica is left that may be asked.
            RoutingTimeoutError: If no replica becomes free in time.
            DispatchTimeoutError: If the chosen replica has no room in time.
        """
        return self.served.pool_of(env_id).act(env_id, observation)

    def act_each(
        self, observations: Iterable[tuple[str, Task[ObservationBatch]]]
    ) -> Iterator[tuple[str, Task[ActionBatch]]]:
        """Return the same as `act` for each pair of a round, in order; they belong together.

        Requests of a round to the same replica go to it together, as far as it has room: those
        that were sent are handed out before a wait for the next.

        Raises:
            RLightningError: As `act`.
        """
        is_worth_it = any(pool.can_hold_calls() for pool in self._pools.values())
        return (ask_together if is_worth_it else ask_one_by_one)(observations, self.served.pool_of)

    def update(self, fragments: Sequence[Task[Fragment]], progress: float) -> UpdateReport:
        """Train on fragments and wait for the end of it.

        Args:
            fragments: One task per environment worker.
            progress: Share of the whole training done so far, from 0 to 1.

        Raises:
            WorkerLostError: If the learner has died.
        """
        kinds = tuple(self.served.kind_of(fragment.worker_id) for fragment in fragments)
        report: UpdateReport = self._ask_learner("update", progress, kinds, *fragments)
        return report

    def publish(self) -> int:
        """Give every replica the present weights; return their version when all have them.

        A replica that died is taken out.

        Raises:
            WorkerLostError: If the learner has died.
        """
        with self._publishing:
            for kind, pool in self._pools.items():
                self._snapshots[kind] = self._learner.call("publish", kind)
                self._publish_to(pool, self._snapshots[kind])
            return self.policy_version

    def _published(self, kind: str) -> Task[WeightsSnapshot]:
        """Return what was published last, which is not sent anew; before that, publish."""
        if kind not in self._snapshots:
            self._snapshots[kind] = self._learner.call("publish", kind)
        return self._snapshots[kind]

    def _publish_to(self, pool: PolicyPool, snapshot: Task[WeightsSnapshot]) -> None:
        members = pool.membership.members()
        applied = [member.handle.call("set_weights", snapshot) for member in members]
        for member, task in zip(members, applied, strict=True):
            try:
                version: int = task.result(self._publish_timeout_seconds)
            except WorkerDiedError as error:
                self._refuse_death_of_learner(error)
                if error.worker_id != member.replica_id:
                    raise
                pool.membership.record_failure(member, error)
            else:
                self.policy_version = max(self.policy_version, version)

    def add(self, kind: str, handle: WorkerHandle) -> None:
        """Let a new replica take part, after it has been given the present weights.

        One that was spawned again after it died may have its former id.

        Raises:
            RoutingValueError: If there is no such kind.
            WorkerLostError: If the learner has died.
        """
        pool = list(self._pools.values())[self.pool_number(kind)]
        with self._publishing:
            self._refuse_without_learner()
            task = handle.call("set_weights", self._published(kind))
            try:
                version: int = task.result(self._publish_timeout_seconds)
            except WorkerDiedError as error:
                self._refuse_death_of_learner(error)
                raise
            self.policy_version = max(self.policy_version, version)
            pool.add(handle)

    def pool_number(self, kind: str) -> int:
        """Return which pool of all serves a kind, from 0.

        Raises:
            RoutingValueError: If there is no such kind.
        """
        if kind not in self._pools:
            raise RoutingValueError(
                f"expected the kind of a pool, got {kind!r}{did_you_mean(kind, self._pools)}; "
                f"there are {', '.join(self._pools)}"
            )
        return list(self._pools).index(kind)

    def remove(self, replica_id: str, *, drain_seconds: float = 60.0) -> None:
        """Send a replica nothing more, let it finish what it has, then stop it.

        Args:
            replica_id: Whom.
            drain_seconds: Longest wait for its answers; requests that it has not answered then
                go to another replica.

        Raises:
            RoutingValueError: If no replica has this id.
        """
        pool, member = self._pool_and_member(replica_id)
        pool.membership.remove(member)
        if wait_until_idle(self._submitter, member.handle, drain_seconds):
            member.handle.stop()
        else:
            member.handle.kill()

    def _pool_and_member(self, replica_id: str) -> tuple[PolicyPool, EvalPolicy]:
        for pool in self._pools.values():
            for member in pool.membership.members():
                if member.replica_id == replica_id:
                    return pool, member
        known = [name for pool in self._pools.values() for name in pool.loads()]
        raise RoutingValueError(
            f"expected the id of a replica, got {replica_id!r}{did_you_mean(replica_id, known)}; "
            f"there are {', '.join(known) or 'none'}"
        )

    def router_counts(self) -> dict[str, int]:
        """Return decisions of all routers by reason, since the start."""
        counts: Counter[str] = Counter()
        for pool in self._pools.values():
            counts.update(pool.membership.router_counts())
        return dict(counts)

    def loads(self) -> dict[str, int]:
        """Return requests in flight by replica."""
        return {name: load for pool in self._pools.values() for name, load in pool.loads().items()}

    def wait_seconds(self) -> dict[str, float]:
        """Return how long requests waited: for room, by replica, and within ``router``."""
        in_router = sum(pool.router_wait_seconds() for pool in self._pools.values())
        return {**self._submitter.wait_seconds(), "router": in_router}

    def take_task_counts(self) -> dict[tuple[str, str], int]:
        """Return requests by (environment worker, replica) since the last call of this."""
        return {
            pair: count
            for pool in self._pools.values()
            for pair, count in pool.take_task_counts().items()
        }

    def take_traffic(self) -> dict[NodePair, NodeTraffic]:
        """Return requests and bytes between nodes since the last call of this."""
        total: dict[NodePair, NodeTraffic] = {}
        for pool in self._pools.values():
            for pair, own in pool.traffic.take().items() if pool.traffic else ():
                total[pair] = total.get(pair, NodeTraffic(0, 0)).plus(own)
        return total

    def handles(self) -> list[WorkerHandle]:
        """Return the handles of all living replicas."""
        return [
            member.handle for pool in self._pools.values() for member in pool.membership.members()
        ]

    @property
    def learner(self) -> WorkerHandle:
        """The worker that trains."""
        return self._learner

    def state(self) -> dict[str, Any]:
        """Return the learner's whole state, for a checkpoint."""
        state: dict[str, Any] = self._ask_learner("state_dict")
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Give the learner a state; the replicas get it with the next `publish`."""
        self._ask_learner("load_state_dict", state)
        self._snapshots.clear()

    def lost(self) -> list[tuple[str, LostWorker]]:
        """Return the replicas that died and did not come back, each with the kind of its pool."""
        return [
            (kind, lost) for kind, pool in self._pools.items() for lost in pool.membership.lost()
        ]

    def retried_calls(self) -> dict[str, int]:
        """Return requests that went to another replica, by the one that failed, so far."""
        return {
            name: count
            for pool in self._pools.values()
            for name, count in pool.retried_calls().items()
        }

    def rebuild_routers(self) -> None:
        """Make all routers anew, after the nodes of environment workers have changed."""
        for pool in self._pools.values():
            pool.membership.rebuild_router()

    def _ask_learner(self, method: str, *args: Any) -> Any:
        try:
            return self._learner.call(method, *args).result(self._update_timeout_seconds)
        except WorkerDiedError as error:
            self._refuse_death_of_learner(error)
            raise

    def _refuse_without_learner(self) -> None:
        """Find a death before somebody trains in vain: what was published outlives the learner."""
        if not self._learner.is_alive():
            name = self._learner.worker_id
            self._refuse_death_of_learner(WorkerDiedError(f"{name} has died", worker_id=name))

    def _refuse_death_of_learner(self, error: WorkerDiedError) -> None:
        """Turn the death of the learner into an error that says how to go on.

        Raises:
            WorkerLostError: If it is the learner who has died.
        """
        if error.worker_id == self._learner.worker_id:
            raise LostWorker.seen_in(self._learner, error).error(
                "the learner holds what was trained since the last checkpoint, so that no other "
                "can take its place",
                remedy="go on from the last checkpoint with: rlightning resume",
            ) from error
