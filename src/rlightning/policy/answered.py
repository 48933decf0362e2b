"""What a replica itself says of the requests that it has answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredRequests:
    """Requests that a replica has answered since it was started.

    Attributes:
        node_id: Where it lives, as its own process knows; None within one process.
        counts: Answers by environment worker.
    """

    node_id: str | None
    counts: Mapping[str, int]
