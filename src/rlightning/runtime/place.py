"""Where the worker of this process lives, as the process itself knows."""

from __future__ import annotations

_node_ids: list[str] = []


def settle(node_id: str) -> None:
    """Hear on which node this process is; called by the runtime that started it."""
    _node_ids[:] = [node_id]


def own_node_id() -> str | None:
    """Return the node of this process, None if no runtime has told."""
    return _node_ids[0] if _node_ids else None
