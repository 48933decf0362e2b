"""Random clusters, and random settings of runs that shall live on them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlightning.placement.node import Node

STORE_BYTES = 80 * 2**20
GIB = 2**30
STRATEGIES = ("default", "pack", "colocate", "disaggregate", "manual")


@dataclass(frozen=True)
class RandomNode:
    """One raylet: what it claims to have.

    Attributes:
        num_cpus: CPUs.
        num_gpus: GPUs; none need to exist.
        memory_gib: Memory.
        zone: Value of its label ``zone``, or none.
    """

    num_cpus: int
    num_gpus: int
    memory_gib: int
    zone: str | None

    def arguments(self) -> dict[str, Any]:
        """Return what Ray starts it with."""
        return {
            "num_cpus": self.num_cpus,
            "num_gpus": self.num_gpus,
            "memory": self.memory_gib * GIB,
            "labels": {} if self.zone is None else {"zone": self.zone},
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
        }

    def __str__(self) -> str:
        zone = "" if self.zone is None else f",zone={self.zone}"
        return f"cpu={self.num_cpus},gpu={self.num_gpus},memory={self.memory_gib}GiB{zone}"


def random_nodes(draw: random.Random) -> list[RandomNode]:
    """Return two to four uneven nodes."""
    return [
        RandomNode(
            draw.randint(1, 6),
            draw.randint(0, 2),
            draw.randint(1, 4),
            draw.choice(["a", "b", None]),
        )
        for _ in range(draw.randint(2, 4))
    ]


def random_settings(draw: random.Random, strategy: str, nodes: Sequence[Node]) -> list[str]:
    """Return settings of a run, as on a command line; they need not fit on the nodes."""
    settings = [
        f"env.num_workers={draw.randint(1, 6)}",
        f"policy.num_eval_policies={draw.randint(1, 3)}",
        f"routing.type={draw.choice(['simple', 'node_affinity'])}",
        f"cluster.placement.strategy={strategy}",
    ]
    for component in ("env", "eval", "train"):
        asked = [f"cpus: {draw.choice(['0', '1/3', '1/2', '1', '2'])}"]
        asked.append(f"gpus: {draw.choice(['0', '0', '1/9', '1/3', '1/2', '1'])}")
        asked.append(f"memory: {draw.choice(['0', '0', '256MiB', '1GiB'])}")
        asked += draw.choice([[], [], ["labels: {zone: a}"]])
        settings.append(f"cluster.placement.{component}={{{', '.join(asked)}}}")
    if strategy == "manual":
        settings.append(f"cluster.placement.manual={_manual(draw, nodes)}")
    return settings


def _manual(draw: random.Random, nodes: Sequence[Node]) -> str:
    node = draw.choice(nodes).node_id
    entries = [f"{node}: {{train: 1, env: 0-{draw.randint(1, 4)}}}"]
    if any(node.labels.get("zone") == "a" for node in nodes):
        entries.append(f"zone=a: {{env: 0-{draw.randint(1, 6)}, eval: 0-3}}")
    return f"{{{', '.join(entries)}}}"
