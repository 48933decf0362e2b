"""Whether the memory of a run on Ray stays flat while one of its replicas is twenty times slower.

A training with 4 environment workers of 64 sub-environments and 2 replicas, by the loop of the
engine; the process of one replica is stopped for nineteen twentieths of the time. Compared are the
means of windows after a warm-up: of driver, replicas and object store each within a tenth of the
first one. Weights and fragments are so large that they go through the object store.

    python -m benchmarks.cluster_memory [--seconds N]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.bar import Bar
from benchmarks.resident_memory import DRIVER, STORE, Change, recorded_memory
from benchmarks.slowed_process import slowed
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble, create_supervisor
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.sync_engine import SyncRLEngine
from rlightning.runtime.ray.ray_worker import RayWorker
from rlightning.testing.ray_leftovers import MARK, ray_home

SECONDS = 600.0
QUICK_SECONDS = 30.0
NUM_WINDOWS = 10
SLOWNESS = 20.0
MAX_CHANGE = 0.1
MIB = 2**20

SETTINGS = [
    "cluster.backend=ray",
    "env.num_workers=4",
    "env.num_envs=64",
    "policy.num_eval_policies=2",
    "policy.hidden_sizes=[256, 256]",
    "engine.rollout_length=64",
    "engine.total_env_steps=1_000_000_000",
]


@dataclass(frozen=True)
class MemoryRun:
    """What one run showed.

    Attributes:
        seconds: Of the run after its first iteration.
        env_steps: Steps of sub-environments.
        most_pending: Largest number of requests in flight that was seen.
        pending_bound: What `most_pending` must not exceed.
        changes: By process, and the object store.
    """

    seconds: float
    env_steps: int
    most_pending: int
    pending_bound: int
    changes: dict[str, Change]

    def judged(self) -> dict[str, Change]:
        """Return those that have to be flat: driver, replicas, object store."""
        return {
            name: change
            for name, change in self.changes.items()
            if name in (DRIVER, STORE) or name.startswith("eval-")
        }


def main(arguments: Sequence[str]) -> int:
    """Run, print a table, and return 1 if something grew."""
    parser = argparse.ArgumentParser("python -m benchmarks.cluster_memory", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    run = memory_run(parser.parse_args(arguments).seconds)
    print(f"{run.seconds:.0f} s, {run.env_steps} steps, at most {run.most_pending} pending")
    for name, change in run.changes.items():
        means = " ".join(f"{mean / MIB:.1f}" for mean in change.means)
        print(f"{name:<28} {change.share:+6.1%} at most, MiB by window: {means}")
    return int(not all(bar.is_met for bar in _bars(run)))


def memory_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Measure for ten minutes, or for half of one."""
    yield from _bars(memory_run(QUICK_SECONDS if is_quick else SECONDS))


def _bars(run: MemoryRun) -> Iterator[Bar]:
    command = "python -m benchmarks.cluster_memory"
    for name, change in run.judged().items():
        yield Bar(
            f"memory of {name} within {MAX_CHANGE:.0%}, one replica x{SLOWNESS:.0f} slower",
            command,
            f"{change.share:+.1%} in {run.seconds:.0f} s "
            f"({change.first_bytes / MIB:.0f} -> {change.last_bytes / MIB:.0f} MiB)",
            change.is_flat(MAX_CHANGE),
        )
    yield Bar(
        f"at most {run.pending_bound} requests pending",
        command,
        f"{run.most_pending} in {run.env_steps} steps",
        run.most_pending <= run.pending_bound,
    )


def memory_run(seconds: float) -> MemoryRun:
    """Train for some time and look at the memory meanwhile."""
    config = load_config("cartpole-ppo", SETTINGS)
    plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed)
    mark = os.environ.setdefault(MARK, uuid.uuid4().hex)
    with ray_home(), assemble(config, plan) as assembly:
        return _measured(config, assembly, mark, seconds)


def _measured(config: RunConfig, assembly: Assembly, mark: str, seconds: float) -> MemoryRun:
    names = {handle.process_id: name for name, handle in _replicas(assembly).items()}
    slow_id = next(iter(names))
    progress = TrainingProgress(config.engine.total_env_steps)
    summary = IterationSummary(assembly.environments, assembly.policies, progress)
    supervisor = create_supervisor(config, assembly)
    engine = SyncRLEngine(
        assembly.environments,
        assembly.policies,
        progress,
        summary,
        restart_lost=supervisor.restart_lost,
    )
    started = time.monotonic()
    looks = min(2.0, seconds / 100)
    most_pending = 0

    def look() -> None:
        nonlocal most_pending
        most_pending = max(most_pending, sum(assembly.policies.loads().values()))

    with recorded_memory(mark, names, looks, look) as record, slowed(slow_id, SLOWNESS):
        engine.run(lambda: time.monotonic() - started > seconds)
    window = seconds / (NUM_WINDOWS + 1)  # the first one is the warm-up
    bound = len(assembly.environments.env_ids) * config.routing.max_pending_tasks
    return MemoryRun(
        time.monotonic() - started,
        progress.env_steps,
        most_pending,
        bound,
        record.changes(window, window),
    )


def _replicas(assembly: Assembly) -> dict[str, RayWorker]:
    members = [m for pool in assembly.policies.pools.values() for m in pool.membership.members()]
    return {
        member.replica_id: member.handle
        for member in members
        if isinstance(member.handle, RayWorker)
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
