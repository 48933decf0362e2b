"""From the block `cluster` of the configuration to the runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rlightning.config.cluster_config import ClusterConfig
from rlightning.engine.ray_extra import needs_ray
from rlightning.runtime.base import Runtime
from rlightning.runtime.in_process import InProcessRuntime

if TYPE_CHECKING:
    from rlightning.runtime.ray.session import RaySettings


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
    return RayRuntime(_ray_settings(config, num_cpus_asked))


@contextmanager
def cluster_session(config: ClusterConfig, num_cpus_asked: int = 0) -> Iterator[None]:
    """Hold the configured cluster for all runtimes that are created inside, one after the other.

    A Ray that is started on this machine is started once for all of them, and stopped at the end.

    Args:
        config: Block `cluster`.
        num_cpus_asked: As for `create_runtime`, of the largest of them.

    Raises:
        MissingExtraError: If Ray is asked for and not installed.
        WorkerError: If the cluster cannot be joined or started.
    """
    if config.backend == "in_process":
        yield
        return
    with needs_ray():
        from rlightning.runtime.ray.session import RaySession  # noqa: PLC0415 - an extra
    session = RaySession(_ray_settings(config, num_cpus_asked))
    session.enter()
    try:
        yield
    finally:
        session.leave()


def _ray_settings(config: ClusterConfig, num_cpus_asked: int) -> RaySettings:
    with needs_ray():
        from rlightning.runtime.ray.session import MIB, RaySettings  # noqa: PLC0415 - an extra
    return RaySettings(
        address=config.address,
        namespace=config.namespace,
        num_cpus=config.num_cpus or max(os.cpu_count() or 1, num_cpus_asked),
        object_store_bytes=config.object_store_mib * MIB,
        start_timeout_seconds=config.start_timeout_seconds,
        runtime_env=config.runtime_env,
    )
