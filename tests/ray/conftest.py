"""One Ray for all tests of a file, started with the first that needs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, so that it can be left out by name."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.ray)


@pytest.fixture(scope="module")
def local_ray() -> Iterator[str]:
    """Start a small Ray; return the id of its one node."""
    ray = pytest.importorskip("ray")
    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=100 * 2**20,
        include_dashboard=False,
        configure_logging=False,
        log_to_driver=False,
    )
    yield ray.nodes()[0]["NodeID"]
    ray.shutdown()
