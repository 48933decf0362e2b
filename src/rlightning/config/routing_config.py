"""Settings of the router: which replica answers which environment worker."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rlightning.config.block import ConfigBlock


class RoutingConfig(ConfigBlock):
    """How requests of environment workers are spread over the replicas of the policy."""

    type: str = Field(
        "simple",
        min_length=1,
        description="Router: `simple` balances load, `node_affinity` prefers replicas on the "
        "node of the environment worker; or a name given to `register_router`.",
    )
    mode: Literal["sync", "async"] = Field(
        "sync",
        description="Family of routers that serves the rollout: `sync` picks one replica for "
        "each request, `async` assigns a whole list of requests by load.",
    )
    max_pending_tasks: int = Field(
        1, ge=1, description="Largest number of requests in flight at one replica."
    )
    timeout_seconds: float = Field(
        60.0,
        gt=0,
        description="Longest wait of a request for a replica with room, in seconds; then the "
        "run ends with a report of who waits for whom. On Ray: longest time that a replica may "
        "take for a call; then it is ended and started again, and waits last longer.",
    )
    tie_break: Literal["lowest", "rotating"] = Field(
        "lowest",
        description="Among equally loaded replicas: the `lowest` index, or `rotating` so that "
        "single requests do not all go to the first.",
    )
    start_offset_seed: int | None = Field(
        None,
        ge=0,
        description="Seed of where a rotating router starts; routers with different seeds do "
        "not all begin at the same replica. Only with `tie_break: rotating`.",
    )
    spill_margin: int | None = Field(
        None,
        ge=0,
        description="How many requests more than the least loaded replica of all those at home "
        "may have before a request leaves its node; empty: it never leaves. Only with "
        "`mode: async` and `type: node_affinity`.",
    )

    @model_validator(mode="after")
    def _refuse_settings_without_effect(self) -> RoutingConfig:
        can_spill = (self.mode, self.type) == ("async", "node_affinity")
        if self.spill_margin is not None and not can_spill:
            raise ValueError(
                f"spill_margin {self.spill_margin} has no effect with mode {self.mode!r} and type "
                f"{self.type!r}; set routing.mode=async and routing.type=node_affinity, or leave "
                "spill_margin out"
            )
        if self.start_offset_seed is not None and self.tie_break != "rotating":
            raise ValueError(
                f"start_offset_seed {self.start_offset_seed} has no effect with tie_break "
                "'lowest'; set routing.tie_break=rotating or leave start_offset_seed out"
            )
        return self
