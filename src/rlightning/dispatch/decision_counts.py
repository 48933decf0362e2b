"""Why routers chose as they did, counted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LOCAL = "local"
SPILLED = "spilled"
UNKNOWN_ENV = "unknown_env"
NODE_WITHOUT_POLICY = "node_without_policy"
BALANCED = "balanced"

REASONS = (LOCAL, SPILLED, UNKNOWN_ENV, NODE_WITHOUT_POLICY, BALANCED)
"""`local`: on the env's node. `spilled`: away from it, because it had too much to do.
`unknown_env`: the env id names no known env. `node_without_policy`: the env's node has no policy.
`balanced`: no affinity was asked for."""


NO_DECISIONS: Mapping[str, int] = MappingProxyType(dict.fromkeys(REASONS, 0))
"""Zero for every reason; cannot be changed."""


def no_decisions() -> dict[str, int]:
    """Return a fresh count of zero for every reason."""
    return dict(NO_DECISIONS)
