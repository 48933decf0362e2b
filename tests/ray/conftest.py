"""One Ray at a time, in a folder of the tests' own, and nothing of it left at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlightning.testing.ray_leftovers import MARK, RayLeftovers, ray_home

HERE = Path(__file__).parent
SECONDS_TO_END = 30.0
SECONDS_OF_A_TEST = 300
STORE_BYTES = 100 * 2**20


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, so that it can be left out by name, and give it time."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.ray)
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SECONDS_OF_A_TEST))


@pytest.fixture(scope="session", autouse=True)
def leftovers() -> Iterator[RayLeftovers]:
    """Keep the Rays of the tests in a folder of their own; nothing is left when all have run."""
    pytest.importorskip("ray")
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as environment, ray_home() as home:
        environment.setenv(MARK, mark)
        leftovers = RayLeftovers(mark, home)
        yield leftovers
        leftovers.require_none(SECONDS_TO_END)


@pytest.fixture(scope="module", autouse=True)
def _nothing_of_ray_is_left(leftovers: RayLeftovers) -> Iterator[None]:
    """Fail a file that leaves a process, shared memory, or the folder of a Ray of a program.

    The folders of Rays that the tests start themselves are removed: Ray itself keeps them.
    """
    yield
    leftovers.remove_folders_of(os.getpid())
    leftovers.require_none(SECONDS_TO_END)


@pytest.fixture(scope="module")
def local_ray(_nothing_of_ray_is_left: None) -> Iterator[str]:
    """Start a small Ray; return the id of its one node."""
    ray = pytest.importorskip("ray")
    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=STORE_BYTES,
        include_dashboard=False,
        configure_logging=False,
        log_to_driver=False,
    )
    try:
        yield ray.nodes()[0]["NodeID"]
    finally:
        ray.shutdown()
