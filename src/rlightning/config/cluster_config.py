"""Settings of where the workers run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rlightning.config.block import ConfigBlock
from rlightning.config.placement_config import PlacementConfig


class ClusterConfig(ConfigBlock):
    """Where environment workers, replicas and learner live."""

    backend: Literal["in_process"] = Field(
        "in_process", description="`in_process`: all workers live in this process."
    )
    mode: Literal["inline", "threads"] = Field(
        "inline",
        description="`inline`: a call runs at once on the caller's thread (quickest for light "
        "environments); `threads`: one thread for each worker (for environments that wait or "
        "compute outside Python).",
    )
    torch_threads: int = Field(
        1, ge=1, description="Threads that torch uses for one operation on the CPU."
    )
    placement: PlacementConfig = Field(
        default_factory=PlacementConfig,
        description="On which node of a cluster each worker lives.",
    )
