"""Several raylets on this machine, each a node that can be taken away."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

import ray
from ray.cluster_utils import Cluster

from rlightning.testing.faults.kind import BESIDE_HEAD, HEAD

STORE_BYTES = 100 * 2**20
SPARE_BYTES = 3 * 2**30
NUM_PIECES = 20
NUM_CPUS_EACH = 6
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  looks for what Ray leaves there


class Raylets:
    """A cluster of so many nodes; a context manager that leaves nothing behind.

    Args:
        num_nodes: How many, that of the driver too.
        limits_memory: Whether the nodes beside that of the driver end workers as soon as the
            machine uses a few GiB more than now.
    """

    def __init__(self, num_nodes: int, *, limits_memory: bool = False) -> None:
        self._num_nodes = num_nodes
        self._monitor = _memory_monitor() if limits_memory else {}
        arguments: dict[str, Any] = {
            "num_cpus": NUM_CPUS_EACH,
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
        }
        self._node_arguments = arguments
        head_arguments = {**arguments, "labels": {"part": HEAD}}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head_arguments)
        self._nodes: dict[str, Any] = {}
        self._filling: list[Any] = []
        head: Any = self._cluster.head_node
        self._session_folder = Path(head.get_session_dir_path())
        self.refill()

    @property
    def address(self) -> str:
        """Where a run joins it."""
        return str(self._cluster.address)

    @property
    def session_folder(self) -> Path:
        """Where its processes write."""
        return self._session_folder

    def refill(self) -> None:
        """Add nodes until there are as many as at first, and empty the store."""
        self._filling = []
        while len(self._nodes) + 1 < self._num_nodes:
            with mock.patch.dict(os.environ, self._monitor):
                node = self._cluster.add_node(labels={"part": BESIDE_HEAD}, **self._node_arguments)
            self._nodes[node.node_id] = node

    def removable_node_ids(self) -> Sequence[str]:
        """Return all nodes but that of the driver."""
        return list(self._nodes)

    def remove_node(self, node_id: str, *, is_sudden: bool = False) -> None:
        """End a node with all processes on it.

        Args:
            node_id: Which.
            is_sudden: Whether it has no time to tell the others, who notice it later then.
        """
        self._cluster.remove_node(self._nodes.pop(node_id), allow_graceful=not is_sudden)

    def fill_store(self) -> None:
        """Put more into the object store of the driver's node than fits, until the next refill.

        Used by a process that is connected to the cluster.
        """
        piece = bytes(STORE_BYTES // 10)
        self._filling = [ray.put(piece) for _ in range(NUM_PIECES)]

    def is_idle(self) -> bool:
        """Return whether nobody has any CPU of it."""
        with self._connected():
            total, free = ray.cluster_resources(), ray.available_resources()
        return bool(free.get("CPU") == total.get("CPU"))

    @contextlib.contextmanager
    def _connected(self) -> Any:
        ray.init(address=self.address, configure_logging=False, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._cluster.shutdown()
        shutil.rmtree(self._session_folder, ignore_errors=True)


def _memory_monitor() -> dict[str, str]:
    """Return the environment in which a node ends workers at a little more memory than now."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    kib = {line[0]: int(line[1]) for line in lines}
    share = 1.0 - (kib["MemAvailable:"] - SPARE_BYTES / 1024) / kib["MemTotal:"]
    return {"RAY_memory_monitor_refresh_ms": "100", "RAY_memory_usage_threshold": f"{share:.4f}"}
