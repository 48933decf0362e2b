"""A training on three raylets, joined by its address, as a person would start it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

cluster_utils = pytest.importorskip("ray.cluster_utils")

NODE = {"num_cpus": 4, "object_store_memory": 100 * 2**20, "include_dashboard": False}
SETTINGS = [
    "cartpole-ppo",
    "cluster.backend=ray",
    "env.num_workers=4",
    "env.num_envs=2",
    "policy.num_eval_policies=3",
    "routing.type=node_affinity",
    "engine.total_env_steps=1024",
    "engine.evaluation_interval=2",
    "engine.evaluation_episodes=2",
    "engine.final_evaluation_episodes=2",
    "logging.live=off",
    "logging.tensorboard=false",
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    cluster = cluster_utils.Cluster(initialize_head=True, connect=False, head_node_args=NODE)
    try:
        for _ in range(2):
            cluster.add_node(**NODE)
        yield cluster.address
    finally:
        cluster.shutdown()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rlightning.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


REPORTING_PROGRAM = """
import json
import sys
from rlightning import train
from rlightning.engine.hooks import Hook

class Asking(Hook):
    def __init__(self, scaling):
        self.scaling = scaling

    def run_ended(self):
        answered = self.scaling.replicas.answered()
        print(json.dumps({
            "homes": self.scaling.environments.node_ids(),
            "answers": [[own.node_id, dict(own.counts)] for own in answered.values()],
        }))

train(sys.argv[1], sys.argv[2:], create_hook=Asking)
"""


@pytest.mark.timeout(400)
def test_replicas_themselves_report_that_they_answered_their_own_node_only(
    address: str, tmp_path: Path
) -> None:
    """Asked after the run: who answered whom, and where each process finds itself to be."""
    quick = ["engine.evaluation_interval=0", "engine.final_evaluation_episodes=0"]
    where = [f"cluster.address={address}", f"logging.folder={tmp_path}"]
    command = [sys.executable, "-c", REPORTING_PROGRAM, *SETTINGS, *quick, *where]
    trained = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert trained.returncode == 0, trained.stderr
    told = json.loads(trained.stdout.splitlines()[-1])
    assert len({node_id for node_id, _ in told["answers"]}) == 3
    at_home = [
        (told["homes"][env_id] == node_id, count)
        for node_id, counts in told["answers"]
        for env_id, count in counts.items()
    ]
    (metrics,) = tmp_path.glob("*/metrics.jsonl")
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    num_counted = sum(
        number for row in rows for name, number in row.items() if name.startswith("node_requests/")
    )
    assert sum(count for _, count in at_home) == num_counted > 0
    assert all(is_home for is_home, _ in at_home)


def node_pairs(row: dict[str, Any]) -> list[list[str]]:
    return [name.split("/")[1:] for name in row if name.startswith("node_requests/")]


@pytest.mark.long
@pytest.mark.timeout(400)
def test_all_requests_stay_on_their_node_where_each_has_a_replica(
    address: str, tmp_path: Path
) -> None:
    where = [f"cluster.address={address}", f"logging.folder={tmp_path}"]
    trained = run("train", *SETTINGS, *where)
    assert trained.returncode == 0, trained.stderr
    (metrics,) = tmp_path.glob("*/metrics.jsonl")
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert {row["home_share"] for row in rows} == {1.0}
    assert all(asking == asked for row in rows for asking, asked in node_pairs(row))
    nodes = {asking for asking, _ in node_pairs(rows[0])}
    assert len(nodes) == 3
    planned = run("plan", *SETTINGS, *where)
    assert planned.returncode == 0, planned.stderr
    assert all(f" {node_id} " in planned.stdout for node_id in nodes), "the plan is of these nodes"


@pytest.mark.timeout(120)
def test_B22_a_run_without_room_ends_at_once_with_what_is_missing_where(
    address: str, tmp_path: Path
) -> None:
    where = [f"cluster.address={address}", f"logging.folder={tmp_path}"]
    refused = run("train", *SETTINGS, *where, "env.num_workers=40")
    assert refused.returncode != 0
    assert "got room for 8 with strategy 'default'; missing in sum: 32 CPUs" in refused.stderr
