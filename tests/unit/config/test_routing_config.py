"""Settings of the router that would have no effect are refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rlightning.config.routing_config import RoutingConfig


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("sync", "simple"), ("sync", "node_affinity"), ("async", "simple"), ("async", "my_router")],
)
def test_a_spill_margin_needs_a_router_that_spills(mode: str, kind: str) -> None:
    with pytest.raises(ValidationError, match=f"no effect with mode '{mode}' and type '{kind}'"):
        RoutingConfig.model_validate({"mode": mode, "type": kind, "spill_margin": 2})
    assert RoutingConfig(mode="async", type="node_affinity", spill_margin=2).spill_margin == 2


def test_a_start_offset_needs_rotation() -> None:
    with pytest.raises(ValidationError, match="no effect with tie_break 'lowest'"):
        RoutingConfig(start_offset_seed=1)
    assert RoutingConfig(tie_break="rotating", start_offset_seed=1).start_offset_seed == 1


@pytest.mark.parametrize("max_pending_tasks", [0, -1, True, 1.5, None])
def test_a_replica_takes_at_least_one_task(max_pending_tasks: object) -> None:
    with pytest.raises(ValidationError):
        RoutingConfig.model_validate({"max_pending_tasks": max_pending_tasks})
