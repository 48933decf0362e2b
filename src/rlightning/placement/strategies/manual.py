"""Manual: counts or ranges for each node or label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlightning.errors import PlacementError
from rlightning.placement.node import Node
from rlightning.placement.request import Counts
from rlightning.placement.strategies.base import NodeGroup
from rlightning.placement.strategies.default import DefaultStrategy
from rlightning.registry import did_you_mean

CountRanges = Mapping[str, Mapping[str, tuple[int, int]]]
"""Entry (node id or ``name=value``) → component → least and largest number."""

REST = "all other nodes"


class ManualStrategy(DefaultStrategy):
    """Keeps to what the entries say; within an entry, workers are spread evenly.

    A node belongs to the entry of its id, else to the first entry with a label that it has. A
    component that entries name lives only there; one that no entry names may live anywhere.

    Args:
        entries: What was asked for.
    """

    name = "manual"

    def __init__(self, entries: CountRanges) -> None:
        self._entries = entries

    def groups(self, nodes: Sequence[Node], demand: Counts) -> list[NodeGroup]:
        """Return one group for each entry, and one for the nodes without an entry.

        Raises:
            PlacementError: If an entry fits no node, or the counts cannot add up to the demand.
        """
        owners = [self._entry_of(node) for node in nodes]
        for entry in self._entries:
            if entry not in owners:
                raise _no_such_node(entry, nodes)
        groups = [
            NodeGroup(entry, _places(owners, entry), *self._limits(entry, demand))
            for entry in [*self._entries, REST]
            if entry in owners
        ]
        _check_sums(groups, demand)
        return groups

    def _entry_of(self, node: Node) -> str:
        if node.node_id in self._entries:
            return node.node_id
        labels = {f"{name}={value}" for name, value in node.labels.items()}
        return next((entry for entry in self._entries if entry in labels), REST)

    def _limits(self, entry: str, demand: Counts) -> tuple[Counts, Counts]:
        own = self._entries.get(entry, {})
        named = {component for counts in self._entries.values() for component in counts}
        ranges = [
            own.get(component, (0, 0) if component in named else (0, count))
            for component, count in demand._asdict().items()
        ]
        least, most = zip(*ranges, strict=True)
        return Counts(*least), Counts(*map(min, most, demand))


def _places(owners: Sequence[str], entry: str) -> tuple[int, ...]:
    return tuple(place for place, owner in enumerate(owners) if owner == entry)


def _no_such_node(entry: str, nodes: Sequence[Node]) -> PlacementError:
    labels = sorted({f"{k}={v}" for node in nodes for k, v in node.labels.items()})
    known = [*(node.node_id for node in nodes), *labels]
    shown = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    return PlacementError(
        f"expected node ids or labels of the cluster in cluster.placement.manual, got {entry!r}, "
        f"which no node is left for{did_you_mean(entry, known)}; there are {shown}"
    )


def _check_sums(groups: Sequence[NodeGroup], demand: Counts) -> None:
    for component, count in demand._asdict().items():
        least = sum(getattr(group.least, component) for group in groups)
        most = sum(getattr(group.most, component) for group in groups)
        if not least <= count <= most:
            got = f"at least {least}" if count < least else f"at most {most}"
            raise PlacementError(
                f"expected cluster.placement.manual to place {count} {component} workers, got "
                f"{got} in its entries; change those counts or the number of {component} workers"
            )
