"""All kinds of faults that are tried, by name."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence

from rlightning.runtime.base import WorkerHandle
from rlightning.testing.faults.kind import HEAD, FaultKind, Scene
from rlightning.testing.faults.kinds_within_processes import KINDS
from rlightning.testing.faults.process_ids import process_id_of

NUM_PADDING_VALUES = 800
"""So many that a fragment lies in the object store of its node, and is gone with it."""

SHARE_OF_SUDDEN_LOSSES = 0.25
"""Of nodes that are gone without a word; it takes Ray a quarter of a minute to notice that."""


def _kill(handle: WorkerHandle) -> list[str]:
    os.kill(process_id_of(handle), signal.SIGKILL)
    return [handle.worker_id]


def kill_replica(scene: Scene) -> list[str]:
    """Kill the process of a replica."""
    return _kill(scene.random.choice(scene.replicas()))


def kill_environment(scene: Scene) -> list[str]:
    """Kill the process of an environment worker."""
    return _kill(scene.random.choice(scene.environments()))


def remove_node(scene: Scene) -> list[str]:
    """Remove a node on which environment workers or replicas live, but not the learner.

    Raises:
        ValueError: If there is none.
    """
    workers = [*scene.environments(), *scene.replicas()]
    learner_node = scene.assembly.policies.learner.node_id
    removable = [] if scene.cluster is None else scene.cluster.removable_node_ids()
    inhabited = {worker.node_id for worker in workers} & set(removable) - {learner_node}
    if not inhabited or scene.cluster is None:
        raise ValueError("expected a node of workers without the learner, got none; add nodes")
    victim = scene.random.choice(sorted(str(node_id) for node_id in inhabited))
    lost = [worker.worker_id for worker in workers if worker.node_id == victim]
    is_sudden = scene.random.random() < SHARE_OF_SUDDEN_LOSSES
    scene.cluster.remove_node(victim, is_sudden=is_sudden)
    return lost


def _learner_beside_driver(_: random.Random) -> Sequence[str]:
    return (f"cluster.placement.train.labels={{part: {HEAD}}}",)


FAULT_KINDS = {
    kind.name: kind
    for kind in (
        FaultKind("kill-replica", "SIGKILL to the process of a replica", kill_replica),
        FaultKind(
            "kill-environment", "SIGKILL to the process of an environment worker", kill_environment
        ),
        FaultKind(
            "remove-node",
            "a node is removed with all that lives on it",
            remove_node,
            settings=_learner_beside_driver,
            num_nodes=3,
            num_padding_values=NUM_PADDING_VALUES,
        ),
        *KINDS,
    )
}
