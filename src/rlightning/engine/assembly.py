"""The one place where all parts are built from the whole configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from rlightning.algorithm.base import Algorithm
from rlightning.algorithm.learner import Learner
from rlightning.config.algorithm_config import ALGORITHMS
from rlightning.config.env_config import EnvConfig
from rlightning.config.run_config import RunConfig
from rlightning.dispatch.ledger import Ledger
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.router_choice import router_factory
from rlightning.env.group import EnvGroup
from rlightning.env.space_kind import SpaceKind
from rlightning.env_id import worker_index_of
from rlightning.placement.local_resources import LOCAL_NODE_ID, LocalResourceManager
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.policy.base import Policy
from rlightning.policy.device import resolve_device
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.replica import PolicyReplica
from rlightning.runtime.base import Runtime, WorkerHandle, WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime

LEARNER_ID = "learner-0"


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts of one run, wired together.

    Attributes:
        runtime: Hosts all workers; whoever assembled shuts it down.
        environments: All environment workers.
        policies: All replicas and the learner.
        ledger: What is in flight.
    """

    runtime: Runtime
    environments: EnvGroup
    policies: PolicyGroup
    ledger: Ledger


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
    runtime = InProcessRuntime(config.cluster.mode, on_hang=plan.on_hang)
    try:
        return _assembled(config, plan, runtime)
    except BaseException:
        runtime.shutdown()
        raise


def _assembled(config: RunConfig, plan: AssemblyPlan, runtime: Runtime) -> Assembly:
    ledger = Ledger()
    longest_step = max(env.timeout_seconds for env in plan.env_configs)
    env_submitter = TaskSubmitter(1, timeout_seconds=longest_step, ledger=ledger)
    environments = EnvGroup(
        runtime, env_submitter, plan.env_configs, plan.rollout_length, plan.seed
    )
    submitter = TaskSubmitter(
        config.routing.max_pending_tasks,
        timeout_seconds=config.routing.timeout_seconds,
        ledger=ledger,
    )
    pools = {
        name: _create_pool(config, plan, _PoolParts(runtime, submitter, environments, number, name))
        for number, name in enumerate(environments.kinds)
    }
    kinds = {env_id: environments.kind_of(env_id) for env_id in environments.env_ids}
    learner = _spawn_learner(config, runtime, environments.kinds)
    policies = PolicyGroup(pools, kinds, learner, submitter, config.engine.update_timeout_seconds)
    return Assembly(runtime, environments, policies, ledger)


def policy_factory(config: RunConfig, kind: SpaceKind) -> Callable[[], Policy]:
    """Return what makes a policy for a kind of environment, the same weights each time."""
    return partial(create_actor_critic, kind, config.policy, config.seed)


@dataclass(frozen=True, slots=True)
class _PoolParts:
    runtime: Runtime
    submitter: TaskSubmitter
    environments: EnvGroup
    pool_number: int
    kind_name: str


def _create_pool(config: RunConfig, plan: AssemblyPlan, parts: _PoolParts) -> PolicyPool:
    num_replicas = config.policy.num_eval_policies
    kind = parts.environments.kinds[parts.kind_name]
    first = parts.pool_number * num_replicas
    handles = [
        _spawn_replica(config, plan, parts.runtime, f"eval-{first + number}", kind)
        for number in range(num_replicas)
    ]
    own_env_ids = [
        env_id
        for env_id in parts.environments.env_ids
        if parts.environments.kind_of(env_id) == parts.kind_name
    ]
    indices = [index for each in own_env_ids if (index := worker_index_of(each)) is not None]
    manager = LocalResourceManager(indices, num_replicas)
    return PolicyPool(handles, router_factory(config.routing, manager), parts.submitter)


def _spawn_replica(
    config: RunConfig, plan: AssemblyPlan, runtime: Runtime, replica_id: str, kind: SpaceKind
) -> WorkerHandle:
    create = partial(
        PolicyReplica,
        policy_factory(config, kind),
        replica_id,
        config.policy.device,
        deterministic=plan.deterministic,
    )
    seconds = config.routing.timeout_seconds
    return runtime.spawn(WorkerSpec(replica_id, create, LOCAL_NODE_ID, seconds))


def _spawn_learner(
    config: RunConfig, runtime: Runtime, kinds: Mapping[str, SpaceKind]
) -> WorkerHandle:
    factories = {name: partial(_create_algorithm, config, kind) for name, kind in kinds.items()}
    return runtime.spawn(WorkerSpec(LEARNER_ID, partial(Learner, factories), LOCAL_NODE_ID))


def _create_algorithm(config: RunConfig, kind: SpaceKind) -> Algorithm:
    policy = policy_factory(config, kind)().to(resolve_device(config.policy.device))
    create = ALGORITHMS.get(config.algorithm.name)
    algorithm: Algorithm = create(policy, config.algorithm, config.seed)
    return algorithm
