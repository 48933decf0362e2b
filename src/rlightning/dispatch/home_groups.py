"""Tasks grouped by the node on which their env lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rlightning.dispatch.decision_counts import (
    LOCAL,
    NODE_WITHOUT_POLICY,
    UNKNOWN_ENV,
    no_decisions,
)
from rlightning.env_id import worker_index_of


@dataclass(frozen=True)
class HomeGroups:
    """Where the tasks of one call are at home.

    Attributes:
        homes: Node of each task, None without a home. Shape: (num_tasks,).
        num_tasks_by_node: Nodes that are home to a task, in order of first appearance.
        num_homeless: Tasks without a home.
        places: For each task its place when the tasks stand node by node, as in
            `num_tasks_by_node`, those without a home last, else in task order. Shape: (num_tasks,).
        decisions: Number of tasks by reason, should none of them spill.
    """

    homes: Sequence[str | None]
    num_tasks_by_node: Mapping[str, int]
    num_homeless: int
    places: Sequence[int]
    decisions: Mapping[str, int]


def group_by_home(
    env_ids: Sequence[str], env_nodes: Mapping[int, str], has_policy: Callable[[str], bool]
) -> HomeGroups:
    """Group tasks by the node of their env; without a policy there, a task has no home. O(k)."""
    positions_by_node: dict[str, list[int]] = {}
    homeless: list[int] = []
    homes: list[str | None] = [None] * len(env_ids)
    decisions = no_decisions()
    for position, env_id in enumerate(env_ids):
        worker_index = worker_index_of(env_id)
        node_id = None if worker_index is None else env_nodes.get(worker_index)
        if node_id is None or not has_policy(node_id):
            decisions[UNKNOWN_ENV if node_id is None else NODE_WITHOUT_POLICY] += 1
            homeless.append(position)
            continue
        homes[position] = node_id
        positions_by_node.setdefault(node_id, []).append(position)
    decisions[LOCAL] = len(env_ids) - len(homeless)
    return HomeGroups(
        homes=homes,
        num_tasks_by_node={node: len(tasks) for node, tasks in positions_by_node.items()},
        num_homeless=len(homeless),
        places=_inverse([*chain.from_iterable(positions_by_node.values()), *homeless]),
        decisions=decisions,
    )


class HomeGroupsOfLastCall:
    """Groups tasks and remembers the last answer, since the same envs are asked for each step.

    Safe from many threads. Holds one list of env ids.
    """

    def __init__(self, env_nodes: Mapping[int, str], has_policy: Callable[[str], bool]) -> None:
        """Take the nodes of the envs and the question whether a node has a policy."""
        self._env_nodes = env_nodes
        self._has_policy = has_policy
        self._remembered: tuple[list[str], HomeGroups] | None = None

    def __call__(self, env_ids: list[str]) -> HomeGroups:
        """Return the groups; `env_ids` must not be changed afterwards."""
        remembered = self._remembered
        if remembered is not None and remembered[0] == env_ids:
            return remembered[1]
        groups = group_by_home(env_ids, self._env_nodes, self._has_policy)
        self._remembered = (env_ids, groups)
        return groups


def _inverse(permutation: Sequence[int]) -> list[int]:
    places = [0] * len(permutation)
    for place, position in enumerate(permutation):
        places[position] = place
    return places
