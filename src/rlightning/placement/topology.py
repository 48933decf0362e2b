"""What the cluster looks like: which workers live on which node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from rlightning.errors import RoutingTypeError, RoutingValueError
from rlightning.registry import did_you_mean

COMPONENTS = ("env", "eval", "train", "buffer")
"""The kinds of workers that a node may hold."""


@dataclass(frozen=True)
class Topology:
    """Nodes and the workers on them, checked and detached from the caller's dictionaries.

    Attributes:
        node_ids: All nodes, in the order in which they were given.
        nodes_by_component: For each component, worker id → node id.
    """

    node_ids: tuple[str, ...]
    nodes_by_component: Mapping[str, Mapping[int, str]]

    @classmethod
    def from_component_distribution(cls, distribution: Mapping[str, Any]) -> Topology:
        """Read ``{node_id: {component: {"count": int, "ids": [int, …]}}}``; `count` may be missing.

        O(number of ids).

        Raises:
            RoutingTypeError: If a level of the structure is no mapping, or a node id no string.
            RoutingValueError: If a component is unknown, ids are missing, an id is negative, no
                integer or given twice in one component, or a count differs from the number of ids.
        """
        nodes: dict[str, dict[int, str]] = {component: {} for component in COMPONENTS}
        for node_id, components in _checked_mapping(distribution, "component_distribution").items():
            if not isinstance(node_id, str):
                raise RoutingTypeError(
                    f"expected node ids as strings in component_distribution, got {node_id!r} "
                    f"of type {type(node_id).__name__}; use the runtime's node ids"
                )
            where = f"component_distribution[{node_id!r}]"
            for component, entry in _checked_mapping(components, where).items():
                _check_component(component, where)
                _place_workers(nodes[component], node_id, entry, f"{where}[{component!r}]")
        frozen = {component: MappingProxyType(placed) for component, placed in nodes.items()}
        return cls(node_ids=tuple(distribution), nodes_by_component=MappingProxyType(frozen))

    @property
    def env_nodes(self) -> Mapping[int, str]:
        """Env worker index → node id."""
        return self.nodes_by_component["env"]

    @property
    def eval_nodes(self) -> Mapping[int, str]:
        """Eval id → node id."""
        return self.nodes_by_component["eval"]

    def check_eval_ids(self, num_policies: int) -> None:
        """Refuse an eval id that no policy stands for.

        Raises:
            RoutingValueError: If an eval id is not below `num_policies`.
        """
        for eval_id, node_id in self.eval_nodes.items():
            if eval_id >= num_policies:
                raise RoutingValueError(
                    f"expected eval ids below {num_policies}, the number of policies, got "
                    f"{eval_id} on node {node_id!r}; eval id i is position i among the policies"
                )


def _checked_mapping(value: Any, where: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise RoutingTypeError(
            f"expected a mapping as {where}, got {value!r} of type {type(value).__name__}; "
            'write {node_id: {component: {"count": int, "ids": [int, ...]}}}'
        )
    return value


def _check_component(component: Any, where: str) -> None:
    if component not in COMPONENTS:
        hint = did_you_mean(str(component), COMPONENTS)
        raise RoutingValueError(
            f"expected one of {', '.join(COMPONENTS)} in {where}, got {component!r}{hint}; "
            "rename or remove it"
        )


def _place_workers(placed: dict[int, str], node_id: str, entry: Any, where: str) -> None:
    ids = _checked_ids(_checked_mapping(entry, where), where)
    for position, worker_id in enumerate(ids):
        if worker_id in placed:
            raise RoutingValueError(
                f"expected ids that are unique in the cluster, got {worker_id} a second time at "
                f"position {position} of {where}['ids'], first on node {placed[worker_id]!r}; "
                "remove one of the two"
            )
        placed[worker_id] = node_id


def _checked_ids(entry: Mapping[Any, Any], where: str) -> list[int]:
    ids: Any = entry.get("ids")
    is_vector = isinstance(ids, np.ndarray) and ids.ndim == 1
    if not is_vector and not isinstance(ids, (list, tuple, range)):
        raise RoutingValueError(
            f"expected a list of ids as {where}['ids'], got {ids!r}; "
            "give the 0-based worker indices, [] for none"
        )
    checked = [_checked_id(worker_id, i, where) for i, worker_id in enumerate(ids)]
    count = entry.get("count", len(checked))
    if not _is_whole_number(count) or count != len(checked):
        raise RoutingValueError(
            f"expected {where}['count'] to be {len(checked)}, the number of ids, got {count!r}; "
            "correct it or leave it out"
        )
    return checked


def _checked_id(worker_id: Any, position: int, where: str) -> int:
    if not _is_whole_number(worker_id) or worker_id < 0:
        raise RoutingValueError(
            f"expected integers >= 0 in {where}['ids'], got {worker_id!r} at position {position}; "
            "number the workers from 0"
        )
    return int(worker_id)


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
