"""A replica that does what a fault orders."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rlightning.policy.base import Policy
from rlightning.policy.replica import PolicyReplica
from rlightning.runtime.gathered import gathered
from rlightning.testing.faults.orders import obey, stay
from rlightning.types import ActionBatch, ObservationBatch


class ObedientReplica(PolicyReplica):
    """Answers as any replica does, unless it was given an order.

    Args:
        orders: Folder of the orders.
        policy_factory: As for the replica.
        replica_id: Likewise.
        device: Likewise.
        deterministic: Likewise.
    """

    def __init__(
        self,
        orders: Path,
        policy_factory: Callable[[], Policy],
        replica_id: str,
        device: str = "auto",
        *,
        deterministic: bool = False,
    ) -> None:
        super().__init__(policy_factory, replica_id, device, deterministic=deterministic)
        self._orders = orders

    @gathered(max_batch_calls=256)
    def act(self, requests: list[ObservationBatch]) -> list[ActionBatch | Exception]:
        """Obey, then answer."""
        is_slow = obey(self._orders)
        started = time.monotonic()
        answers = super().act(requests)
        if is_slow:
            stay(time.monotonic() - started)
        return answers
