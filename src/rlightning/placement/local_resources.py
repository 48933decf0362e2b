"""Where everything lives when one process hosts it all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LOCAL_NODE_ID = "local"


class LocalResourceManager:
    """Answers what a resource manager answers, for one node that holds every worker.

    Args:
        env_worker_indices: Environment workers, by 0-based index.
        num_eval_policies: Eval policies, ids 0 and up.
        node_id: Name of the node.
    """

    def __init__(
        self,
        env_worker_indices: Iterable[int],
        num_eval_policies: int,
        node_id: str = LOCAL_NODE_ID,
    ) -> None:
        self._env_worker_indices = tuple(env_worker_indices)
        self._num_eval_policies = num_eval_policies
        self._node_id = node_id

    def get_component_distribution(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return who lives on which node, as the routers read it."""
        ids = {
            "env": list(self._env_worker_indices),
            "eval": list(range(self._num_eval_policies)),
            "train": [0],
        }
        present = {name: {"count": len(own), "ids": own} for name, own in ids.items() if own}
        return {self._node_id: present}
