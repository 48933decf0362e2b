"""From the block `cluster` of the configuration to the runtime."""

from __future__ import annotations

from collections.abc import Callable

from rlightning.config.cluster_config import ClusterConfig
from rlightning.errors import MissingExtraError
from rlightning.placement.local_resources import LOCAL_NODE_ID
from rlightning.runtime.base import Runtime
from rlightning.runtime.in_process import InProcessRuntime


def create_runtime(
    config: ClusterConfig, on_hang: Callable[[str], object] | None = None
) -> Runtime:
    """Return the configured runtime.

    Args:
        config: Block `cluster`.
        on_hang: Called with a report before a watchdog ends this process.

    Raises:
        MissingExtraError: If Ray is asked for and not installed.
        WorkerError: If the cluster cannot be joined or started.
    """
    if config.backend == "in_process":
        return InProcessRuntime(config.mode, on_hang=on_hang)
    try:
        from rlightning.runtime.ray.ray_runtime import RayRuntime  # noqa: PLC0415 - an extra
        from rlightning.runtime.ray.session import MIB, RaySettings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "ray":
            raise
        raise MissingExtraError(
            "expected Ray to be installed for cluster.backend=ray, got none; install the extra: "
            "pip install 'rlightning[ray]'"
        ) from error
    return RayRuntime(
        RaySettings(
            address=config.address,
            namespace=config.namespace,
            num_cpus=config.num_cpus,
            object_store_bytes=config.object_store_mib * MIB,
            start_timeout_seconds=config.start_timeout_seconds,
            runtime_env=config.runtime_env,
        )
    )


def node_to_ask_for(config: ClusterConfig) -> str | None:
    """Return the node on which workers are to run, None for any."""
    return LOCAL_NODE_ID if config.backend == "in_process" else None
