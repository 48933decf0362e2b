"""What routing costs on Ray, beside plain Ray loops with the same actors' objects.

All pairs take turns within one run, medians are reported:

- calls per second with 100 in flight, through `PolicyGroup` and over plain actors with `ray.wait`;
- what is added to the median of a single call;
- CartPole-v1 with 4 environment workers of 64 sub-environments and 2 replicas, steps per second
  while collecting, and the same by a loop that hands references from actor to actor.

    python -m benchmarks.cluster [--check] [--json PATH]
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import ray

from benchmarks.harness import Figure, report
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble, policy_factory
from rlightning.env.worker import EnvWorker
from rlightning.policy.group import PolicyGroup
from rlightning.policy.pool import PolicyPool
from rlightning.policy.replica import PolicyReplica
from rlightning.policy.utils.router import create_router
from rlightning.runtime.base import Task, WorkerSpec
from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.gathered import gathered
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.types import ActionBatch, ObservationBatch
from rlightning.weights.publisher import Publisher

NUM_PAIRS = 7
NUM_REPLICAS = 2
NUM_IN_FLIGHT = 100
NUM_CALLS = 1_000
NUM_SINGLE_CALLS = 100
NUM_ENV_WORKERS = 4
NUM_ENVS = 64
ROLLOUT_LENGTH = 64
RATE_BAR = 0.85
LATENCY_BAR_SECONDS = 0.0001
STEPS_BAR = 0.93

SETTINGS = [
    "cluster.backend=ray",
    f"env.num_workers={NUM_ENV_WORKERS}",
    f"env.num_envs={NUM_ENVS}",
    f"policy.num_eval_policies={NUM_REPLICAS}",
    f"engine.rollout_length={ROLLOUT_LENGTH}",
    "routing.max_pending_tasks=4",
]

REQUEST = ObservationBatch(
    "env-0", np.zeros((NUM_ENVS, 4), np.float32), np.zeros((NUM_ENVS, 1), np.float32)
)


class Echo:
    """Answers at once: what is measured is the way there and back."""

    @gathered(max_batch_calls=256)
    def act(self, requests: list[ObservationBatch]) -> list[ActionBatch]:
        """Answer each request."""
        return [self.act_once(request) for request in requests]

    def act_once(self, request: ObservationBatch) -> ActionBatch:
        """Answer one request."""
        column = request.observation[:, 0]
        return ActionBatch(request.env_id, column, column, column, 0, "eval-0")


class PlainReplica:
    """A replica for a plain actor."""

    def __init__(self, config: RunConfig, kind: Any, replica_id: str) -> None:
        self._replica = PolicyReplica(policy_factory(config, kind), replica_id)

    def act_once(self, request: ObservationBatch) -> Any:
        """Answer one request."""
        return self._replica.act([request])[0]

    def set_weights(self, snapshot: Any) -> int:
        """Take weights."""
        return self._replica.set_weights(snapshot)


def main(arguments: list[str]) -> int:
    """Measure all pairs."""
    config = load_config("cartpole-ppo", SETTINGS)
    figures: list[Figure] = []
    with RayRuntime() as runtime:
        figures += calls(runtime)
    plan = AssemblyPlan(config.env_configs, ROLLOUT_LENGTH, config.seed)
    with assemble(config, plan) as assembly:
        figures.append(steps(config, assembly))
    return report(figures, arguments)


def calls(runtime: RayRuntime) -> list[Figure]:
    """Measure routed and bare calls."""
    group = routed_group(runtime)
    plain = [ray.remote(Echo).options(num_cpus=0).remote() for _ in range(NUM_REPLICAS)]
    loops = {"routed": lambda: routed_calls(group), "bare": lambda: bare_calls(plain)}
    singles = {"routed": lambda: routed_singles(group), "bare": lambda: bare_singles(plain)}
    for loop in (*loops.values(), *singles.values()):
        loop()
    routed, bare = medians(singles)
    allowed = LATENCY_BAR_SECONDS / max(routed - bare, 1e-6)
    return [
        figure(f"calls, {NUM_IN_FLIGHT} in flight, routed against bare", loops, RATE_BAR),
        Figure("single calls; ratio: 0.1 ms / what is added", routed, bare, allowed, 1.0),
    ]


def routed_group(runtime: RayRuntime) -> PolicyGroup:
    """Return a group of echoing replicas behind a router."""
    specs = [WorkerSpec(f"eval-{i}", Echo) for i in range(NUM_REPLICAS)]
    handles = list(runtime.spawn_all(specs))
    submitter = TaskSubmitter(NUM_IN_FLIGHT // NUM_REPLICAS)
    pool = PolicyPool(
        handles, lambda members: create_router("sync", "simple", members, None), submitter
    )
    kinds = {f"env-{i}": "kind" for i in range(NUM_IN_FLIGHT)}
    return PolicyGroup({"kind": pool}, kinds, handles[0], submitter)


def routed_calls(group: PolicyGroup) -> float:
    """Return seconds per call; as many are in flight as the submitter allows."""
    observation: Task[ObservationBatch] = FinishedTask("env-0", "reset", REQUEST, None, 0)
    started = time.perf_counter()
    tasks = [group.act(f"env-{number % NUM_IN_FLIGHT}", observation) for number in range(NUM_CALLS)]
    for task in tasks[-NUM_IN_FLIGHT:]:
        task.add_done_callback(lambda _: None)
    for task in tasks:
        while not task.is_done():
            time.sleep(0.0005)
    return (time.perf_counter() - started) / NUM_CALLS


def bare_calls(actors: list[Any]) -> float:
    """Return seconds per call of the loop that everybody writes."""
    started = time.perf_counter()
    methods = [actor.act_once for actor in actors]
    pending = [methods[i % NUM_REPLICAS].remote(REQUEST) for i in range(NUM_IN_FLIGHT)]
    for number in range(NUM_IN_FLIGHT, NUM_CALLS):
        _, pending = ray.wait(pending, num_returns=1, fetch_local=False)
        pending.append(methods[number % NUM_REPLICAS].remote(REQUEST))
    ray.wait(pending, num_returns=len(pending), fetch_local=False)
    return (time.perf_counter() - started) / NUM_CALLS


def routed_singles(group: PolicyGroup) -> float:
    """Return the median seconds of a call and its answer."""
    observation: Task[ObservationBatch] = FinishedTask("env-0", "reset", REQUEST, None, 0)
    return median_seconds(lambda: group.act("env-0", observation).result())


def bare_singles(actors: list[Any]) -> float:
    """Return the median seconds of a call and its answer."""
    in_turn = itertools.cycle(actors)  # as the router does
    return median_seconds(lambda: ray.get(next(in_turn).act_once.remote(REQUEST)))


def median_seconds(call: Callable[[], object]) -> float:
    """Return the median duration of a call."""
    durations = []
    for _ in range(NUM_SINGLE_CALLS):
        started = time.perf_counter()
        call()
        durations.append(time.perf_counter() - started)
    return statistics.median(durations)


def steps(config: RunConfig, assembly: Assembly) -> Figure:
    """Measure collecting, routed and by hand."""
    loops = {"routed": routed_collecting(assembly), "bare": plain_collecting(config, assembly)}
    for loop in loops.values():
        loop()
    return figure("a CartPole step while collecting, routed against by hand", loops, STEPS_BAR)


def routed_collecting(assembly: Assembly) -> Callable[[], float]:
    """Return what collects one fragment per worker as the engine does."""
    environments, policies = assembly.environments, assembly.policies
    policies.publish()
    environments.reset()

    def collect() -> float:
        started = time.perf_counter()
        for _ in range(ROLLOUT_LENGTH):
            for env_id, action in policies.act_each(environments.observations()):
                environments.step(env_id, action)
        for task in environments.take_fragments():
            task.result()
        return seconds_per_step(started)

    return collect


def plain_collecting(config: RunConfig, assembly: Assembly) -> Callable[[], float]:
    """Return the same by hand: references go from actor to actor, nothing else is done."""
    (kind,) = assembly.environments.kinds.values()
    envs: list[Any] = [
        ray.remote(EnvWorker)
        .options(num_cpus=0)
        .remote(config.env_configs[0], index, ROLLOUT_LENGTH, config.seed)
        for index in range(NUM_ENV_WORKERS)
    ]
    replicas: list[Any] = [
        ray.remote(PlainReplica).options(num_cpus=0).remote(config, kind, f"eval-{index}")
        for index in range(NUM_REPLICAS)
    ]
    snapshot = ray.put(Publisher().publish(policy_factory(config, kind)()))
    ray.get([replica.set_weights.remote(snapshot) for replica in replicas])
    newest = [env.reset.remote() for env in envs]

    def collect() -> float:
        started = time.perf_counter()
        for _ in range(ROLLOUT_LENGTH):
            for index, env in enumerate(envs):
                action = replicas[index % NUM_REPLICAS].act_once.remote(newest[index])
                newest[index] = env.step.remote(action)
        ray.get([env.take_fragment.remote(seen) for env, seen in zip(envs, newest, strict=True)])
        return seconds_per_step(started)

    return collect


def seconds_per_step(started: float) -> float:
    """Return what one step of one sub-environment took in a collection."""
    return (time.perf_counter() - started) / (ROLLOUT_LENGTH * NUM_ENV_WORKERS * NUM_ENVS)


def figure(name: str, loops: dict[str, Callable[[], float]], bar: float) -> Figure:
    """Measure a pair; the ratio is that of the rates."""
    routed, bare = medians(loops)
    return Figure(name, routed, bare, bare / routed, bar)


def medians(loops: dict[str, Callable[[], float]]) -> tuple[float, float]:
    """Run both loops in turns; return the median of each."""
    pairs = [(loops["routed"](), loops["bare"]()) for _ in range(NUM_PAIRS)]
    routed, bare = zip(*pairs, strict=True)
    return statistics.median(routed), statistics.median(bare)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
