"""Binding a request to a replica at the moment at which one has room, and not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.policy.membership import PoolMembership
from rlightning.policy.utils.router import AsyncRouter
from rlightning.runtime.base import Task, WorkerHandle

Candidates: TypeAlias = Callable[[], Sequence[EvalPolicy]]
Choose: TypeAlias = Callable[[Sequence[EvalPolicy]], EvalPolicy]


def send_to_any(
    submitter: TaskSubmitter, candidates: Candidates, choose: Choose, method: str, argument: Any
) -> tuple[Task[Any], EvalPolicy]:
    """Wait until a candidate has room, choose one of those that have, and send it the call.

    Args:
        submitter: Sends the call.
        candidates: Returns the living replicas that may serve; asked again at each look.
        choose: Returns one of the candidates it is given, which have room.
        method: Of the replica.
        argument: Of the method.

    Raises:
        DispatchTimeoutError: If none has room in time.
    """
    offered: dict[int, EvalPolicy] = {}
    chosen: list[EvalPolicy] = []

    def handles() -> list[WorkerHandle]:
        nonlocal offered
        offered = {id(policy.handle): policy for policy in candidates()}
        return [policy.handle for policy in offered.values()]

    def choose_handle(with_room: list[WorkerHandle]) -> WorkerHandle:
        chosen[:] = [choose([offered[id(handle)] for handle in with_room])]
        return chosen[0].handle

    task = submitter.submit_to_any(handles, choose_handle, method, argument)
    return task, chosen[0]


def least_loaded(policies: Sequence[EvalPolicy]) -> EvalPolicy:
    """Return the replica with the fewest requests in flight; the first among equals."""
    return min(policies, key=lambda policy: policy.load)


class WaitsAtHomeError(Exception):
    """The router wants a replica that is full, although another one has room."""


class RouterChoice:
    """An asynchronous router's choice for one request.

    Attributes:
        wanted: What the router chose last.
    """

    def __init__(self, membership: PoolMembership, env_id: str) -> None:
        self._membership = membership
        self._env_id = env_id
        self._routable, self._router, _ = membership.for_routing()
        self.wanted = self._routable[0]

    def candidates(self) -> Sequence[EvalPolicy]:
        """Return all that may be asked now.

        Raises:
            NoEvalPolicyError: If nobody may be asked.
        """
        self._membership.remove_dead()
        self._routable, self._router, _ = self._membership.for_routing()
        return self._routable

    def choose(self, with_room: Sequence[EvalPolicy]) -> EvalPolicy:
        """Return the router's choice.

        Raises:
            WaitsAtHomeError: If it is none of those with room.
        """
        router = cast("AsyncRouter", self._router)
        loads = [policy.load for policy in self._routable]
        self.wanted = self._routable[router.assign(loads, 1, [self._env_id])[0]]
        if self.wanted not in with_room:
            raise WaitsAtHomeError
        return self.wanted

    def candidates_at_home(self) -> Sequence[EvalPolicy]:
        """Return those on the node of the wanted one; all, if they have left meanwhile."""
        home = self.wanted
        everyone = self.candidates()
        if home.node_id is None:
            neighbours = [policy for policy in everyone if policy is home]
        else:
            neighbours = [policy for policy in everyone if policy.node_id == home.node_id]
        return neighbours or everyone
