"""Settings of where the workers run."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rlightning.config.block import ConfigBlock
from rlightning.config.placement_config import PlacementConfig


class ClusterConfig(ConfigBlock):
    """Where environment workers, replicas and learner live."""

    backend: Literal["in_process", "ray"] = Field(
        "in_process",
        description="`in_process`: all workers live in this process; `ray`: each worker lives in "
        "a process of its own, on a Ray cluster (extra `ray`).",
    )
    address: str | None = Field(
        None,
        description="Ray cluster to join, such as `10.0.0.1:6379` or `auto`; none starts a Ray on "
        "this machine and stops it again.",
    )
    namespace: str | None = Field(
        None, description="Ray namespace of the workers' names; none takes a new one."
    )
    num_cpus: int | None = Field(
        None, ge=1, description="CPUs that a started Ray offers; none takes those of the machine."
    )
    object_store_mib: int = Field(
        200, ge=80, description="Memory in MiB of a started Ray for large values."
    )
    start_timeout_seconds: float = Field(
        120.0,
        gt=0,
        description="Longest wait for the process of a worker to start on its node. A lack of room "
        "there is noticed sooner.",
    )
    runtime_env: dict[str, Any] = Field(
        default_factory=dict,
        description="What Ray brings to the workers, such as `{py_modules: [src/mine]}`.",
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
    max_restarts: int = Field(
        3,
        ge=0,
        description="How often each environment worker and each replica that dies is started "
        "again before the run ends with an error.",
    )
    restart_backoff_seconds: float = Field(
        1.0,
        ge=0,
        description="Least time in seconds between the first and the second restart of a worker; "
        "twice that before the third, and so on.",
    )
    placement: PlacementConfig = Field(
        default_factory=PlacementConfig,
        description="On which node of a cluster each worker lives.",
    )
