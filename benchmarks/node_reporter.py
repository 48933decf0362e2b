"""A worker that says where it is. Imports next to nothing: many of them start at a time."""

from __future__ import annotations

import ray


class NodeReporter:
    """Knows only its node."""

    def node_id(self) -> str:
        """Return the id of the node on which this process runs."""
        return str(ray.get_runtime_context().get_node_id())
