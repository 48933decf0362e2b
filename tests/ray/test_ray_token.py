"""A cluster with token authentication takes only drivers that have its token."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.testing.ray_leftovers import RayLeftovers

LIMIT_SECONDS = 200.0
TOKEN = "0123456789abcdef0123456789abcdef"
HEAD = """
import sys
from ray.cluster_utils import Cluster
node = {"num_cpus": 2, "object_store_memory": 100 * 2**20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, connect=False, head_node_args=node)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
DRIVER = """
import sys
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.runtime.ray.session import RaySettings
from rlightning.testing.ray_workers import Bench
with RayRuntime(RaySettings(address=sys.argv[1], start_timeout_seconds=120.0)) as runtime:
    print(runtime.spawn(WorkerSpec("eval-0", Bench)).call("echo", "hello").result(60.0))
"""


def surroundings(home: Path, **variables: str) -> dict[str, str]:
    """Return an environment with nothing of the token of whoever runs the tests."""
    inherited = {name: own for name, own in os.environ.items() if not name.startswith("RAY_AUTH")}
    return {**inherited, "HOME": str(home), **variables}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, leftovers: RayLeftovers) -> Iterator[str]:
    with_token = surroundings(
        tmp_path_factory.mktemp("home"), RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN
    )
    with subprocess.Popen(
        [sys.executable, "-c", HEAD],
        env=with_token,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as head:
        assert head.stdout is not None
        assert head.stdin is not None
        yield head.stdout.readline().strip()
        head.stdin.close()
        head.wait(LIMIT_SECONDS)
    leftovers.remove_folders_of(head.pid)


def join(address: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DRIVER, address],
        env=surroundings(home, **variables),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@pytest.mark.long
@pytest.mark.timeout(500)
@pytest.mark.parametrize(
    "variables",
    [{}, {"RAY_AUTH_MODE": "token"}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN[::-1]}],
    ids=["no mode", "no token", "another token"],
)
def test_a_driver_without_the_token_is_told_so(
    address: str, tmp_path: Path, variables: dict[str, str]
) -> None:
    refused = join(address, tmp_path, **variables)
    assert refused.returncode == 1
    assert "WorkerError: expected to join the Ray cluster" in refused.stderr
    assert "RAY_AUTH_TOKEN" in refused.stderr.splitlines()[-1]


@pytest.mark.long
@pytest.mark.timeout(500)
def test_a_driver_with_the_token_works(address: str, tmp_path: Path) -> None:
    joined = join(address, tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)
    assert joined.returncode == 0, joined.stderr[-3000:]
    assert "hello" in joined.stdout
