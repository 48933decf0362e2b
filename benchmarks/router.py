"""What the routers cost beside plain references, measured in turns in the same run.

    python -m benchmarks.router [--json PATH] [--check]

The reference for assigning by load is a heap popped and pushed once per task; for node affinity it
is the plain reading: per task, parse the env id, scan the policies for those of its node, take the
least loaded. For selecting it is ``with lock: next(cycle)``. Node-affinity calls repeat the same
env ids, as a training loop does; the first, cold call stands in a row of its own, without a bar.
"""

from __future__ import annotations

import heapq
import itertools
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Figure, interleaved_medians, report, seconds_of
from rlightning.env_id import worker_index_of
from rlightning.policy.utils.router import (
    NodeAffinityRouter,
    SimpleRouter,
    SyncNodeAffinityRouter,
    SyncRouter,
    SyncSimpleRouter,
)

SEED = 7
NUM_NODES = 8
NUM_SELECTS = 400_000
NUM_SELECT_ROUNDS = 5
NUM_POLICIES_TO_SELECT = 16
NUM_THREADS = 8
NUM_ROUNDS = 15


@dataclass(frozen=True)
class Size:
    """Size of one assignment, its bars, and how often it is measured.

    Attributes:
        num_policies: Policies, spread evenly over the nodes.
        num_tasks: Tasks per call, each of another env.
        num_nodes: Nodes.
        simple_bar: How many times faster than the heap loop.
        affinity_bar: How many times faster than the plain reading.
        reference_share: The plain reading runs this part of the tasks, its time is scaled up.
        num_calls: Calls per round.
        num_rounds: Rounds, of which the median counts.
    """

    num_policies: int
    num_tasks: int
    num_nodes: int
    simple_bar: float
    affinity_bar: float
    reference_share: int = 1
    num_calls: int = 1
    num_rounds: int = NUM_ROUNDS

    @property
    def label(self) -> str:
        """The size as the table shows it."""
        return f"{self.num_policies:,} policies / {self.num_tasks:,} tasks"


SIZES = (
    Size(8, 64, NUM_NODES, 1, 1, num_calls=50),
    Size(64, 1_024, NUM_NODES, 3, 8, num_calls=5),
    Size(4_096, 65_536, 512, 15, 200, reference_share=16, num_rounds=3),
)


def heap_assign(loads: Sequence[int], num_tasks: int) -> list[int]:
    """Pop the least loaded policy and push it back, once per task."""
    heap = [(load, policy_index) for policy_index, load in enumerate(loads)]
    heapq.heapify(heap)
    answer = []
    for _ in range(num_tasks):
        load, policy_index = heapq.heappop(heap)
        heapq.heappush(heap, (load + 1, policy_index))
        answer.append(policy_index)
    return answer


def plain_affinity_assign(
    loads: list[int],
    env_ids: Sequence[str],
    env_nodes: dict[int, str],
    policy_nodes: Sequence[str],
) -> list[int]:
    """Per task: parse the env id, scan the policies for those of its node, take the least."""
    answer = []
    for env_id in env_ids:
        node_id = env_nodes[int(env_id.partition("/")[0].rpartition("-")[2])]
        local = [i for i, policy_node in enumerate(policy_nodes) if policy_node == node_id]
        chosen = min(local, key=loads.__getitem__)
        loads[chosen] += 1
        answer.append(chosen)
    return answer


def distribution_of(size: Size) -> dict[str, dict[str, dict[str, Any]]]:
    """Deal policies and envs out to the nodes in turn."""
    return {
        f"node-{node}": {
            "eval": {"ids": list(range(node, size.num_policies, size.num_nodes))},
            "env": {"ids": list(range(node, size.num_tasks, size.num_nodes))},
        }
        for node in range(size.num_nodes)
    }


def loads_of(size: Size) -> list[int]:
    """Draw a load for each policy, the same in every run."""
    max_load = 16 if size.num_policies <= 64 else 64
    draw = random.Random(SEED)  # noqa: S311  # loads, not secrets
    return [draw.randint(0, max_load) for _ in range(size.num_policies)]


def measure_simple(size: Size) -> Figure:
    """Measure `SimpleRouter.assign` beside the heap loop."""
    loads, router = loads_of(size), SimpleRouter()
    if router.assign(loads, size.num_tasks) != heap_assign(loads, size.num_tasks):
        raise SystemExit("the router and its reference differ: figures would mean nothing")
    seconds, reference = interleaved_medians(
        [
            (lambda: router.assign(loads, size.num_tasks), size.num_calls),
            (lambda: heap_assign(loads, size.num_tasks), size.num_calls),
        ],
        size.num_rounds,
    )
    name = f"SimpleRouter.assign, {size.label}"
    return Figure(name, seconds, reference, reference / seconds, size.simple_bar)


def measure_affinity(size: Size) -> list[Figure]:
    """Measure `NodeAffinityRouter.assign` beside the plain reading, warm and cold."""
    loads, distribution = loads_of(size), distribution_of(size)
    env_ids = [f"env-{index}" for index in range(size.num_tasks)]
    env_nodes = {i: node for node, parts in distribution.items() for i in parts["env"]["ids"]}
    policy_nodes = [f"node-{i % size.num_nodes}" for i in range(size.num_policies)]
    some_ids = env_ids[: size.num_tasks // size.reference_share]
    router = NodeAffinityRouter(distribution)

    def plain() -> list[int]:
        return plain_affinity_assign(list(loads), some_ids, env_nodes, policy_nodes)

    if NodeAffinityRouter(distribution).assign(list(loads), len(some_ids), some_ids) != plain():
        raise SystemExit("the router and its reference differ: figures would mean nothing")
    worker_index_of.cache_clear()
    cold = seconds_of(lambda: router.assign(list(loads), size.num_tasks, env_ids))
    warm, part = interleaved_medians(
        [
            (lambda: router.assign(list(loads), size.num_tasks, env_ids), size.num_calls),
            (plain, size.num_calls),
        ],
        size.num_rounds,
    )
    reference = part * size.reference_share
    name = f"NodeAffinityRouter.assign, {size.label}"
    return [
        Figure(name, warm, reference, reference / warm, size.affinity_bar),
        Figure("  the first call", cold, reference, reference / cold),
    ]


def selecting_seconds(select: Callable[[str], object], num_threads: int) -> float:
    """Return seconds per select, all threads together, each for the envs of a node of its own."""
    start_line = threading.Barrier(num_threads)
    times: list[float] = []

    def work(env_id: str) -> None:
        start_line.wait()
        times.append(time.perf_counter())
        for _ in range(NUM_SELECTS // num_threads):
            select(env_id)
        times.append(time.perf_counter())

    threads = [threading.Thread(target=work, args=(f"env-{i}",)) for i in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (max(times) - min(times)) / NUM_SELECTS


def bare_select(policies: Sequence[object]) -> Callable[[str], object]:
    """Return the least that a thread-safe round robin costs."""
    lock, turns = threading.Lock(), itertools.cycle(policies)

    def select(env_id: str) -> object:
        with lock:
            return next(turns)

    return select


def measure_selecting(router: SyncRouter, bare: Callable[[str], object]) -> list[Figure]:
    """Measure `select_policy` in one thread beside the bare round robin, and in many threads."""
    one, many, reference = (
        statistics.median(times)
        for times in zip(
            *(
                (
                    selecting_seconds(router.select_policy, 1),
                    selecting_seconds(router.select_policy, NUM_THREADS),
                    selecting_seconds(bare, 1),
                )
                for _ in range(NUM_SELECT_ROUNDS)
            ),
            strict=True,
        )
    )
    name = f"{type(router).__name__}.select_policy"
    return [
        Figure(f"{name}, 1 thread", one, reference, reference / one, bar=1 / 3),
        Figure(f"{name}, {NUM_THREADS} threads beside 1", many, one, one / many, bar=0.8),
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure everything and report it; the exit code."""
    figures = [measure_simple(size) for size in SIZES]
    for size in SIZES:
        figures += measure_affinity(size)
    policies = [object() for _ in range(NUM_POLICIES_TO_SELECT)]
    distribution = distribution_of(Size(NUM_POLICIES_TO_SELECT, 64, NUM_NODES, 1, 1))
    bare = bare_select(policies)
    figures += measure_selecting(SyncSimpleRouter(policies), bare)
    figures += measure_selecting(SyncNodeAffinityRouter(policies, distribution), bare)
    return report(figures, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
