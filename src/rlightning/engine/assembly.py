"""The one place where all parts are built from the whole configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Self

import torch

from rlightning.algorithm.base import Algorithm
from rlightning.algorithm.learner import Learner
from rlightning.config.algorithm_config import ALGORITHMS
from rlightning.config.env_config import EnvConfig
from rlightning.config.run_config import RunConfig
from rlightning.dispatch.ledger import Ledger
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.environment_scaling import EnvironmentParts, EnvironmentScaling
from rlightning.engine.placed_runtime import PlacedRuntime
from rlightning.engine.restart_budget import RestartBudget
from rlightning.engine.router_choice import router_factory
from rlightning.engine.run_placement import (
    Relocation,
    create_manager,
    living_nodes,
    num_cpus_asked,
    placement_request,
)
from rlightning.engine.runtime_choice import create_runtime
from rlightning.engine.scaling import ReplicaScaling, Scaling
from rlightning.engine.supervisor import Staff, Supervisor
from rlightning.engine.wait_limits import WaitLimits
from rlightning.env.group import EnvGroup
from rlightning.env.space_kind import SpaceKind
from rlightning.env_id import worker_index_of
from rlightning.errors import RLightningError
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.policy.base import Policy
from rlightning.policy.device import resolve_device
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.replica import PolicyReplica
from rlightning.policy.traffic import RequestBytes, Traffic
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Runtime, WorkerSpec

LEARNER_ID = "learner-0"

SECONDS_TO_CLOSE_AFTER_AN_ERROR = 1.0
"""Longest wait for environments, and for workers, once a run has failed or was broken off."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts of one run, wired together; a context manager that takes them down.

    Attributes:
        runtime: Hosts all workers.
        environments: All environment workers.
        policies: All replicas and the learner.
        ledger: What is in flight.
        manager: Knows where everything lives.
        scaling: Adds workers and takes them out.
    """

    runtime: Runtime
    environments: EnvGroup
    policies: PolicyGroup
    ledger: Ledger
    manager: GlobalResourceManager
    scaling: Scaling

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the environments and stop all workers.

        After an error nobody who hangs is waited for, and an error of closing is a note on it.
        """
        seconds = DEFAULT_STOP_SECONDS if error is None else SECONDS_TO_CLOSE_AFTER_AN_ERROR
        try:
            try:
                self.environments.close(seconds)
            finally:
                self.runtime.shutdown(seconds)
        except RLightningError as closing_error:
            if error is None:
                raise
            error.add_note(f"while closing: {closing_error}")


@dataclass(frozen=True, slots=True)
class AssemblyPlan:
    """What may differ between a training and an evaluation of the same configuration.

    Attributes:
        env_configs: Environments to host.
        rollout_length: Steps of a fragment.
        seed: Of environments and noise.
        deterministic: Whether replicas answer the most likely action.
        on_hang: Called with a report before the watchdog ends the process.
        is_guest: Whether another run keeps the room on the nodes for itself, so that these
            workers ask for none.
    """

    env_configs: tuple[EnvConfig, ...]
    rollout_length: int
    seed: int
    deterministic: bool = False
    on_hang: Callable[[str], object] | None = None
    is_guest: bool = False


def assemble(config: RunConfig, plan: AssemblyPlan) -> Assembly:
    """Start all workers of a run and wire them together.

    Raises:
        RLightningError: If a part cannot be built; nothing is left running.
    """
    torch.set_num_threads(config.cluster.torch_threads)
    cluster = config.cluster
    request = placement_request(
        cluster, plan.env_configs, config.policy.num_eval_policies, is_guest=plan.is_guest
    )
    runtime = create_runtime(cluster, plan.on_hang, num_cpus_asked(request))
    try:
        manager = create_manager(cluster, request, is_guest=plan.is_guest)
        return _assembled(config, plan, PlacedRuntime(runtime, manager), manager)
    except BaseException:
        with suppress(RLightningError):
            runtime.shutdown()
        raise


def _assembled(
    config: RunConfig, plan: AssemblyPlan, runtime: Runtime, manager: GlobalResourceManager
) -> Assembly:
    ledger = Ledger()
    waits = WaitLimits.of(
        config.cluster, plan.env_configs, config.routing, config.policy.num_eval_policies
    )
    env_submitter = TaskSubmitter(1, timeout_seconds=waits.env_seconds, ledger=ledger)
    environments = EnvGroup(
        runtime, env_submitter, plan.env_configs, plan.rollout_length, plan.seed
    )
    parts = _Parts(config, plan, runtime, manager, environments, ledger, waits)
    try:
        policies = _create_policies(parts)
        scaling = _create_scaling(parts, policies)
        return Assembly(runtime, environments, policies, ledger, manager, scaling)
    except BaseException:
        with suppress(RLightningError):
            environments.close()
        raise


def _create_scaling(parts: _Parts, policies: PolicyGroup) -> Scaling:
    runtime, manager = parts.runtime, parts.manager
    nodes = partial(living_nodes, parts.config.cluster, manager)
    create_spec = partial(_replica_spec, parts)
    return Scaling(
        ReplicaScaling(runtime, manager, policies, create_spec, parts.replica_specs, nodes),
        EnvironmentScaling(EnvironmentParts(runtime, manager, parts.environments, policies, nodes)),
    )


def _create_policies(parts: _Parts) -> PolicyGroup:
    config, environments = parts.config, parts.environments
    kinds = {env_id: environments.kind_of(env_id) for env_id in environments.env_ids}
    parts.manager.settle_pools(
        [
            [_index_of(each) for each, own in kinds.items() if own == kind]
            for kind in environments.kinds
        ]
    )
    replica_ids = parts.manager.replica_ids_of_pools()
    by_kind = dict(zip(environments.kinds, replica_ids, strict=True))
    for kind, ids in by_kind.items():
        parts.replica_specs.update({own: _replica_spec(parts, own, kind) for own in ids})
    # The learner comes first: Ray's memory monitor ends the newest workers of a node first.
    specs = [_learner_spec(config, environments.kinds), *parts.replica_specs.values()]
    handles = {handle.worker_id: handle for handle in parts.runtime.spawn_all(specs)}
    seconds = parts.waits.replica_seconds
    routing = config.routing.model_copy(update={"timeout_seconds": seconds})
    submitter = TaskSubmitter(
        routing.max_pending_tasks, timeout_seconds=seconds, ledger=parts.ledger
    )
    pools = {
        kind: PolicyPool(
            [handles[own] for own in ids],
            router_factory(routing, parts.manager.of_pool(number)),
            submitter,
            traffic=_create_traffic(parts),
        )
        for number, (kind, ids) in enumerate(by_kind.items())
    }
    timeout_seconds = config.engine.update_timeout_seconds
    return PolicyGroup(pools, kinds, handles[LEARNER_ID], submitter, timeout_seconds)


def _index_of(env_id: str) -> int:
    index = worker_index_of(env_id)
    if index is None:
        raise RuntimeError(f"{env_id!r} has no worker index")
    return index


def _create_traffic(parts: _Parts) -> Traffic:
    environments = parts.environments
    hosted = [env for env in parts.plan.env_configs for _ in range(env.num_workers)]
    sizes = {
        env_id: RequestBytes.of(environments.kinds[environments.kind_of(env_id)], env.num_envs)
        for env_id, env in zip(environments.env_ids, hosted, strict=True)
    }
    return Traffic(parts.manager.node_of, sizes)


def create_supervisor(config: RunConfig, assembly: Assembly) -> Supervisor:
    """Return what brings the workers of a run back when they die."""
    scaling = assembly.scaling.replicas
    relocation = Relocation(assembly.manager, assembly.policies, scaling.living_nodes)
    cluster = config.cluster
    staff = Staff(
        assembly.runtime,
        assembly.environments,
        assembly.policies,
        scaling.replica_specs,
        relocation.choose_node,
        relocation.joined,
        relocation.is_node_gone,
        restarts_raising=cluster.backend != "in_process" and cluster.max_restarts > 0,
    )
    budget = RestartBudget(cluster.max_restarts, cluster.restart_backoff_seconds)
    return Supervisor(staff, budget)


def policy_factory(config: RunConfig, kind: SpaceKind) -> Callable[[], Policy]:
    """Return what makes a policy for a kind of environment, the same weights each time."""
    return partial(create_actor_critic, kind, config.policy, config.seed)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the policies of a run are built from."""

    config: RunConfig
    plan: AssemblyPlan
    runtime: Runtime
    manager: GlobalResourceManager
    environments: EnvGroup
    ledger: Ledger
    waits: WaitLimits
    replica_specs: dict[str, WorkerSpec] = field(default_factory=dict)


def _replica_spec(parts: _Parts, replica_id: str, kind_name: str) -> WorkerSpec:
    config = parts.config
    create = partial(
        PolicyReplica,
        policy_factory(config, parts.environments.kinds[kind_name]),
        replica_id,
        config.policy.device,
        deterministic=parts.plan.deterministic,
    )
    seconds = config.routing.timeout_seconds
    return WorkerSpec(replica_id, _with_torch_threads(config, create), call_timeout_seconds=seconds)


def _learner_spec(config: RunConfig, kinds: Mapping[str, SpaceKind]) -> WorkerSpec:
    factories = {name: partial(_create_algorithm, config, kind) for name, kind in kinds.items()}
    return WorkerSpec(LEARNER_ID, _with_torch_threads(config, partial(Learner, factories)))


def _with_torch_threads(config: RunConfig, create: Callable[[], object]) -> Callable[[], object]:
    """Return what makes a worker in a process in which torch uses the configured threads."""
    return partial(_create_with_torch_threads, config.cluster.torch_threads, create)


def _create_with_torch_threads(num_threads: int, create: Callable[[], object]) -> object:
    torch.set_num_threads(num_threads)
    return create()


def _create_algorithm(config: RunConfig, kind: SpaceKind) -> Algorithm:
    policy = policy_factory(config, kind)().to(resolve_device(config.policy.device))
    create = ALGORITHMS.get(config.algorithm.name)
    algorithm: Algorithm = create(policy, config.algorithm, config.seed)
    return algorithm
