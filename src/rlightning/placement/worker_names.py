"""How the workers of each component are called."""

from __future__ import annotations

from rlightning.env_id import EnvId, format_env_id

_PREFIXES = {"env": "env", "eval": "eval", "train": "learner", "buffer": "buffer"}


def worker_name(component: str, number: int) -> str:
    """Return the id with which a worker is started, such as ``eval-1`` or ``learner-0``."""
    return format_env_id(EnvId(_PREFIXES[component], number))
