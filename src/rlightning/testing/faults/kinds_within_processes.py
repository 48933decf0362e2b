"""Faults of processes that go on living: frozen, raising, slow, short of memory."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rlightning.runtime.base import WorkerHandle
from rlightning.testing.faults.kind import BESIDE_HEAD, HEAD, FaultKind, Scene
from rlightning.testing.faults.orders import EAT_MEMORY, KEEP_RAISING, RAISE, SLOW_DOWN, give_order
from rlightning.testing.faults.process_ids import process_id_of

Choose = Callable[[Scene], Sequence[WorkerHandle]]

LIMIT_SECONDS = 15.0
NUM_PADDING_VALUES = 8_000
"""So many that not only fragments but also observations go through the object store."""

SHARE_THAT_WAKES_UP = 0.5
MIN_SECONDS_TOO_LATE = 4.0
"""More than it takes to find that the limit is over, and to ask in vain."""

MAX_SECONDS_TOO_LATE = 8.0
SECONDS_TO_STARVE = 200.0
ZOMBIE = "Z"
SECONDS_UNTIL_ALL_ARE_ENDED = 1.0


def a_replica(scene: Scene) -> list[WorkerHandle]:
    """Choose one."""
    return [scene.random.choice(scene.replicas())]


def an_environment(scene: Scene) -> list[WorkerHandle]:
    """Choose one."""
    return [scene.random.choice(scene.environments())]


def freezing(choose: Choose) -> Callable[[Scene], list[str]]:
    """Return what freezes a worker; in half of the runs it wakes up when it is too late."""

    def freeze(scene: Scene) -> list[str]:
        (victim,) = choose(scene)
        process_id = process_id_of(victim)
        os.kill(process_id, signal.SIGSTOP)
        if scene.random.random() < SHARE_THAT_WAKES_UP:
            too_late = scene.random.uniform(MIN_SECONDS_TOO_LATE, MAX_SECONDS_TOO_LATE)
            time.sleep(LIMIT_SECONDS + too_late)
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGCONT)
        return [victim.worker_id]

    return freeze


def ordering(choose: Choose, order: str) -> Callable[[Scene], list[str]]:
    """Return what gives an order to a worker."""

    def give(scene: Scene) -> list[str]:
        victims = choose(scene)
        for victim in victims:
            give_order(scene.orders, process_id_of(victim), order)
        return [victim.worker_id for victim in victims]

    return give


def starving(choose: Choose) -> Callable[[Scene], list[str]]:
    """Return what has a worker take memory; victims are all whom Ray ends for that."""

    def starve(scene: Scene) -> list[str]:
        workers = [*scene.environments(), *scene.replicas()]
        (victim,) = choose(scene)
        give_order(scene.orders, process_id_of(victim), EAT_MEMORY)
        deadline = time.monotonic() + SECONDS_TO_STARVE
        while _lives(victim) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(SECONDS_UNTIL_ALL_ARE_ENDED)
        return [worker.worker_id for worker in workers if not _lives(worker)]

    return starve


def _lives(worker: WorkerHandle) -> bool:
    try:
        status = Path("/proc", str(process_id_of(worker)), "stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != ZOMBIE


def _apart_from_the_learner(_: random.Random) -> Sequence[str]:
    return (
        f"env.timeout_seconds={SECONDS_TO_STARVE}",
        f"routing.timeout_seconds={SECONDS_TO_STARVE}",
        f"cluster.placement.train.labels={{part: {HEAD}}}",
        f"cluster.placement.env.labels={{part: {BESIDE_HEAD}}}",
        f"cluster.placement.eval.labels={{part: {BESIDE_HEAD}}}",
    )


def fill_store(scene: Scene) -> list[str]:
    """Fill the object store of the driver's node with values of others.

    Raises:
        ValueError: If the run is on no cluster of which that can be asked.
    """
    if scene.cluster is None:
        raise ValueError("expected a cluster, got none; give the run one of two nodes")
    scene.cluster.fill_store()
    return ["store"]


def _short_limits(_: random.Random) -> Sequence[str]:
    return (f"env.timeout_seconds={LIMIT_SECONDS}", f"routing.timeout_seconds={LIMIT_SECONDS}")


def _any_router(chance: random.Random) -> Sequence[str]:
    mode = chance.choice(("sync", "async"))
    return ("routing.type=simple", f"routing.mode={mode}", "env.num_workers=3")


KINDS = (
    FaultKind(
        "freeze-replica",
        "SIGSTOP to the process of a replica",
        freezing(a_replica),
        settings=_short_limits,
    ),
    FaultKind(
        "freeze-environment",
        "SIGSTOP to the process of an environment worker",
        freezing(an_environment),
        settings=_short_limits,
    ),
    FaultKind(
        "raise-in-act",
        "an exception in one call of a replica",
        ordering(a_replica, RAISE),
        is_deadly=False,
    ),
    FaultKind(
        "raise-in-act-always",
        "an exception in every call of a replica from then on",
        ordering(a_replica, KEEP_RAISING),
        is_deadly=False,
    ),
    FaultKind(
        "raise-in-step",
        "an exception in one step of an environment",
        ordering(an_environment, RAISE),
    ),
    FaultKind(
        "slow-replica",
        "a replica is 20 times as slow from then on",
        ordering(a_replica, SLOW_DOWN),
        settings=_any_router,
        is_deadly=False,
    ),
    FaultKind(
        "full-store",
        "twice as much as fits is put into the object store",
        fill_store,
        num_nodes=2,
        num_padding_values=NUM_PADDING_VALUES,
        is_deadly=False,
    ),
    FaultKind(
        "memory-of-replica",
        "a replica allocates until Ray's memory monitor ends it",
        starving(a_replica),
        settings=_apart_from_the_learner,
        num_nodes=2,
        limits_memory=True,
    ),
    FaultKind(
        "memory-of-environment",
        "an environment worker allocates until Ray's memory monitor ends it",
        starving(an_environment),
        settings=_apart_from_the_learner,
        num_nodes=2,
        limits_memory=True,
    ),
)
