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
from rlightning.engine.restart_budget import RestartBudget
from rlightning.engine.router_choice import router_factory
from rlightning.engine.runtime_choice import create_runtime, node_to_ask_for
from rlightning.engine.supervisor import Staff, Supervisor
from rlightning.env.group import EnvGroup
from rlightning.env.space_kind import SpaceKind
from rlightning.env_id import worker_index_of
from rlightning.errors import RLightningError
from rlightning.placement.local_resources import LocalResourceManager
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.policy.base import Policy
from rlightning.policy.device import resolve_device
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.replica import PolicyReplica
from rlightning.runtime.base import DEFAULT_STOP_SECONDS, Runtime, WorkerHandle, WorkerSpec

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
        replica_specs: What each replica was started with, by id.
    """

    runtime: Runtime
    environments: EnvGroup
    policies: PolicyGroup
    ledger: Ledger
    replica_specs: Mapping[str, WorkerSpec]

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
    """

    env_configs: tuple[EnvConfig, ...]
    rollout_length: int
    seed: int
    deterministic: bool = False
    on_hang: Callable[[str], object] | None = None


def assemble(config: RunConfig, plan: AssemblyPlan) -> Assembly:
    """Start all workers of a run and wire them together.

    Raises:
        RLightningError: If a part cannot be built; nothing is left running.
    """
    torch.set_num_threads(config.cluster.torch_threads)
    runtime = create_runtime(config.cluster, plan.on_hang)
    try:
        return _assembled(config, plan, runtime)
    except BaseException:
        with suppress(RLightningError):
            runtime.shutdown()
        raise


def _assembled(config: RunConfig, plan: AssemblyPlan, runtime: Runtime) -> Assembly:
    ledger = Ledger()
    longest_step = max(env.timeout_seconds for env in plan.env_configs)
    env_submitter = TaskSubmitter(1, timeout_seconds=longest_step, ledger=ledger)
    environments = EnvGroup(
        runtime, env_submitter, plan.env_configs, plan.rollout_length, plan.seed
    )
    parts = _Parts(config, plan, runtime, environments, ledger)
    try:
        policies = _create_policies(parts)
        return Assembly(runtime, environments, policies, ledger, parts.replica_specs)
    except BaseException:
        with suppress(RLightningError):
            environments.close()
        raise


def _create_policies(parts: _Parts) -> PolicyGroup:
    config, environments = parts.config, parts.environments
    submitter = TaskSubmitter(
        config.routing.max_pending_tasks,
        timeout_seconds=config.routing.timeout_seconds,
        ledger=parts.ledger,
    )
    pools = {
        name: _create_pool(parts, submitter, number, name)
        for number, name in enumerate(environments.kinds)
    }
    kinds = {env_id: environments.kind_of(env_id) for env_id in environments.env_ids}
    learner = _spawn_learner(config, parts.runtime, environments.kinds)
    return PolicyGroup(pools, kinds, learner, submitter, config.engine.update_timeout_seconds)


def create_supervisor(config: RunConfig, assembly: Assembly) -> Supervisor:
    """Return what brings the workers of a run back when they die."""
    staff = Staff(
        assembly.runtime, assembly.environments, assembly.policies, assembly.replica_specs
    )
    cluster = config.cluster
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
    environments: EnvGroup
    ledger: Ledger
    replica_specs: dict[str, WorkerSpec] = field(default_factory=dict)


def _create_pool(
    parts: _Parts, submitter: TaskSubmitter, pool_number: int, kind_name: str
) -> PolicyPool:
    num_replicas = parts.config.policy.num_eval_policies
    first = pool_number * num_replicas
    kind = parts.environments.kinds[kind_name]
    specs = [_replica_spec(parts, f"eval-{first + i}", kind) for i in range(num_replicas)]
    parts.replica_specs.update({spec.worker_id: spec for spec in specs})
    handles = list(parts.runtime.spawn_all(specs))
    own_env_ids = [
        env_id
        for env_id in parts.environments.env_ids
        if parts.environments.kind_of(env_id) == kind_name
    ]
    indices = [index for each in own_env_ids if (index := worker_index_of(each)) is not None]
    manager = LocalResourceManager(indices, num_replicas)
    return PolicyPool(handles, router_factory(parts.config.routing, manager), submitter)


def _replica_spec(parts: _Parts, replica_id: str, kind: SpaceKind) -> WorkerSpec:
    config = parts.config
    create = partial(
        PolicyReplica,
        policy_factory(config, kind),
        replica_id,
        config.policy.device,
        deterministic=parts.plan.deterministic,
    )
    seconds = config.routing.timeout_seconds
    return WorkerSpec(
        replica_id, _with_torch_threads(config, create), node_to_ask_for(config.cluster), seconds
    )


def _spawn_learner(
    config: RunConfig, runtime: Runtime, kinds: Mapping[str, SpaceKind]
) -> WorkerHandle:
    factories = {name: partial(_create_algorithm, config, kind) for name, kind in kinds.items()}
    create = _with_torch_threads(config, partial(Learner, factories))
    return runtime.spawn(WorkerSpec(LEARNER_ID, create, node_to_ask_for(config.cluster)))


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
