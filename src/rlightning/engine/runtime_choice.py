"""From the block `cluster` of the configuration to the runtime."""

from __future__ import annotations

import os
from collections.abc import Callable

from rlightning.config.cluster_config import ClusterConfig
from rlightning.engine.ray_extra import needs_ray
from rlightning.runtime.base import Runtime
from rlightning.runtime.in_process import InProcessRuntime


def create_runtime(
    config: ClusterConfig,
    on_hang: Callable[[str], object] | None = None,
    num_cpus_asked: int = 0,
) -> Runtime:
    """Return the configured runtime.

    Args:
        config: Block `cluster`.
        on_hang: Called with a report before a watchdog ends this process.
        num_cpus_asked: CPUs that all workers ask for; a Ray that is started on this machine
            offers as many even if it has fewer, unless `num_cpus` says otherwise.

    Raises:
        MissingExtraError: If Ray is asked for and not installed.
        WorkerError: If the cluster cannot be joined or started.
    """
    if config.backend == "in_process":
        return InProcessRuntime(config.mode, on_hang=on_hang)
    with needs_ray():
        from rlightning.runtime.ray.ray_runtime import RayRuntime  # noqa: PLC0415 - an extra
        from rlightning.runtime.ray.session import MIB, RaySettings  # noqa: PLC0415
    return RayRuntime(
        RaySettings(
            address=config.address,
            namespace=config.namespace,
            num_cpus=config.num_cpus or max(os.cpu_count() or 1, num_cpus_asked),
            object_store_bytes=config.object_store_mib * MIB,
            start_timeout_seconds=config.start_timeout_seconds,
            runtime_env=config.runtime_env,
        )
    )
