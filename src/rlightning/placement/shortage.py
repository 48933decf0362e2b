"""Say why workers do not fit: which, what is missing, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlightning.config.quantities import bytes_text
from rlightning.errors import PlacementError
from rlightning.placement.filling import Filling
from rlightning.placement.lack import amount_text, demand_text, free_text, what_is_lacking
from rlightning.placement.nearest_fit import nearest_fit
from rlightning.placement.node import Node
from rlightning.placement.request import Counts, Demand, PlacementRequest, Pool
from rlightning.placement.room_table import RoomTable, holds, room_at, total_room
from rlightning.placement.strategies.base import NodeGroup, Strategy

_MAX_NODES_SHOWN = 8
_WORDS = {
    "train": "learner",
    "buffer": "buffer",
    "eval": "eval policy",
    "env": "environment worker",
}
_PLURALS = {"eval": "eval policies"}
_NUMBER_SETTINGS = {"env": "env.num_workers", "eval": "policy.num_eval_policies"}


def shortage_error(
    nodes: Sequence[Node],
    request: PlacementRequest,
    tables: Sequence[RoomTable],
    strategy: Strategy,
) -> PlacementError:
    """Return the error for workers that do not fit.

    Args:
        nodes: All nodes.
        request: All workers.
        tables: Room table of each node, without what the strategy never does.
        strategy: What was tried.
    """
    demand = request.counts
    groups = strategy.groups(nodes, demand)
    asked = [(group, group.least if len(groups) > 1 else demand) for group in groups]
    for group, counts in asked:
        own_tables = [tables[place] for place in group.node_indices]
        if not holds(total_room(own_tables, demand), counts):
            own_nodes = [nodes[place] for place in group.node_indices]
            return _Shortage(group, own_nodes, own_tables, counts, request, strategy).error()
    return _conflict_of_groups(groups, demand)


def _conflict_of_groups(groups: Sequence[NodeGroup], demand: Counts) -> PlacementError:
    ranges = "; ".join(f"{group.name}: {_range_text(group)}" for group in groups)
    return PlacementError(
        f"expected room for {_counts_text(demand)} within the ranges of "
        f"cluster.placement.manual, got {ranges}, each possible but not all together; "
        "allow more on the nodes with room"
    )


def _range_text(group: NodeGroup) -> str:
    ranges = zip(Counts._fields, group.least, group.most, strict=True)
    return ", ".join(f"{component} {a}-{b}" for component, a, b in ranges if b)


@dataclass(frozen=True)
class _Shortage:
    """Nodes without room for what they shall hold."""

    group: NodeGroup
    nodes: Sequence[Node]
    tables: Sequence[RoomTable]
    asked: Counts
    request: PlacementRequest
    strategy: Strategy

    def error(self) -> PlacementError:
        component, placed = self._first_that_lacks()
        demand = self.request.demand(component)
        nodes_left = self._nodes_left(placed)
        asked, found = getattr(self.asked, component), getattr(placed, component)
        beside = _counts_text(placed._replace(**{component: 0}))
        rule = f" ({self.strategy.rule})" if self.strategy.rule else ""
        missing = _missing_in_sum(nodes_left, demand, asked - found)
        head = (
            f"expected room for {_number(component, asked)}"
            f"{f' beside {beside}' if beside else ''} on {self._where()}, each with "
            f"{demand_text(demand)}; got room for {found} with strategy "
            f"{self.strategy.name!r}{rule}{missing}"
        )
        advice = (
            f"add nodes, ask for less per worker (cluster.placement.{component}), or "
            f"{_fewer(component)}"
        )
        lines = [head, *self._node_lines(nodes_left, demand), advice]
        return PlacementError("\n  ".join(lines))

    def _where(self) -> str:
        number = "1 node" if len(self.nodes) == 1 else f"{len(self.nodes)} nodes"
        return number if self.asked == self.request.counts else f"{self.group.name} ({number})"

    def _first_that_lacks(self) -> tuple[str, Counts]:
        """Return the first component without room for all, beside as many as fit before it."""
        room = total_room(self.tables, self.asked)
        placed = Counts()
        for component in ("train", "buffer", "eval"):
            counts = [
                placed._replace(**{component: n}) for n in range(getattr(self.asked, component) + 1)
            ]
            placed = [each for each in counts if holds(room, each)][-1]
            if getattr(placed, component) < getattr(self.asked, component):
                return component, placed
        return "env", placed._replace(env=room_at(room, *placed[:3]))

    def _nodes_left(self, placed: Counts) -> list[Node]:
        """Return what stays free if as many as possible are placed."""
        counts = nearest_fit(self.tables, placed, self.strategy.wishes) or []
        filling = Filling(self.nodes, self.request)
        everyone = Pool(tuple(range(placed.env)), tuple(range(placed.eval)))
        filling.put([counts], [everyone], with_hosts=True)
        return filling.left

    def _node_lines(self, nodes_left: Sequence[Node], demand: Demand) -> Iterator[str]:
        for node in nodes_left[:_MAX_NODES_SHOWN]:
            lacks = what_is_lacking(node, demand)
            reason = f"missing {', '.join(lacks)}" if lacks else "kept free by the strategy"
            yield f"{node.node_id}: free then: {free_text(node)}; for one more: {reason}"
        if len(nodes_left) > _MAX_NODES_SHOWN:
            yield f"and {len(nodes_left) - _MAX_NODES_SHOWN} nodes more"


def _missing_in_sum(nodes_left: Sequence[Node], demand: Demand, count: int) -> str:
    cpus = count * demand.cpus - sum(node.cpus for node in nodes_left)
    gpus = count * demand.gpus - sum(node.gpus for node in nodes_left)
    memories = [node.memory_bytes for node in nodes_left if node.memory_bytes is not None]
    texts = [amount_text(n, unit) for n, unit in ((cpus, "CPU"), (gpus, "GPU")) if n > 0]
    memory = count * demand.memory_bytes - sum(memories)
    if memory > 0 and len(memories) == len(nodes_left):
        texts.append(bytes_text(memory))
    return f"; missing in sum: {', '.join(texts)}" if texts else ""


def _number(component: str, count: int) -> str:
    word = _WORDS[component]
    return f"{count} {word if count == 1 else _PLURALS.get(component, word + 's')}"


def _counts_text(counts: Counts) -> str:
    texts = [_number(component, n) for component, n in counts._asdict().items() if n]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _fewer(component: str) -> str:
    setting = _NUMBER_SETTINGS.get(component)
    return f"take fewer ({setting})" if setting else "choose another strategy"
