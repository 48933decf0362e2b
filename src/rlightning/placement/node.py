"""A machine of the cluster, as far as placement cares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from rlightning.errors import PlacementError

NO_LABELS: Mapping[str, str] = MappingProxyType({})
WHOLE = Fraction(1)


@dataclass(frozen=True)
class Node:
    """What a node has to give; exact fractions, so that nine ninths are one.

    Attributes:
        node_id: Unique in the cluster.
        cpus: CPUs, at least 0.
        gpu_shares: What is free of each GPU, from 0 to 1; one entry for each device.
        memory_bytes: Memory, or None if it is not known; then it is not checked.
        accelerator_type: Kind of its GPUs, such as ``"A100"``.
        labels: What the owner of the cluster wrote on it.
    """

    node_id: str
    cpus: Fraction
    gpu_shares: tuple[Fraction, ...] = ()
    memory_bytes: int | None = None
    accelerator_type: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)

    def __post_init__(self) -> None:
        """Refuse what no machine has.

        Raises:
            PlacementError: If an amount is negative, or a GPU has more than one of itself.
        """
        memory_bytes = self.memory_bytes or 0
        if self.cpus < 0 or memory_bytes < 0 or not all(0 <= s <= 1 for s in self.gpu_shares):
            raise PlacementError(
                f"expected amounts of at least 0 and shares of a GPU up to 1 on node "
                f"{self.node_id!r}, got {self.cpus} CPUs, GPU shares "
                f"{[str(share) for share in self.gpu_shares]}, {self.memory_bytes} bytes; "
                "correct the description of the node"
            )

    @classmethod
    def of(cls, node_id: str, cpus: int | Fraction, num_gpus: int = 0) -> Node:
        """Return a node with whole, free GPUs."""
        return cls(node_id, Fraction(cpus), (WHOLE,) * num_gpus)

    @property
    def gpus(self) -> Fraction:
        """What is free of all GPUs together."""
        return sum(self.gpu_shares, Fraction(0))


def check_node_ids(nodes: tuple[Node, ...]) -> None:
    """Refuse a cluster without nodes, or with two of one id.

    Raises:
        PlacementError: If there is no node, or an id stands twice.
    """
    if not nodes:
        raise PlacementError("expected at least one node to place workers on, got none; add one")
    seen: set[str] = set()
    for node in nodes:
        if node.node_id in seen:
            raise PlacementError(
                f"expected node ids that are unique, got {node.node_id!r} twice; rename one"
            )
        seen.add(node.node_id)
