"""Requests and bytes between two nodes, and which share of them stays at home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

NodePair: TypeAlias = tuple[str, str]
"""Node of the environment worker that asks, node of the replica that is asked."""


@dataclass(frozen=True, slots=True)
class NodeTraffic:
    """What went from one node to another, or stayed.

    Attributes:
        requests: Requests that were sent.
        num_bytes: Bytes of the arrays of requests and answers.
    """

    requests: int
    num_bytes: int

    def plus(self, other: NodeTraffic) -> NodeTraffic:
        """Return the sum."""
        return NodeTraffic(self.requests + other.requests, self.num_bytes + other.num_bytes)


def num_nodes(traffic: Mapping[NodePair, NodeTraffic]) -> int:
    """Return how many nodes took part."""
    return len({node_id for pair in traffic for node_id in pair})


def home_share(traffic: Mapping[NodePair, NodeTraffic]) -> float | None:
    """Return the share of requests that stayed on their node, None if there were none."""
    total = sum(own.requests for own in traffic.values())
    at_home = sum(own.requests for (asking, asked), own in traffic.items() if asking == asked)
    return at_home / total if total else None
