"""Whether CartPole is learnt on Ray: on one that the run starts, and on three raylets at home.

python -m benchmarks.bars cluster-learning
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar
from benchmarks.learning import QUICK_ENV_STEPS, final_evaluation, shown
from rlightning import train
from rlightning.engine.hooks import Hook
from rlightning.engine.scaling import Scaling
from rlightning.testing.ray_leftovers import ray_home

MIN_RETURN = 475.0
MIN_HOME_SHARE = 0.999
NUM_RAYLETS = 3
RAYLET: dict[str, Any] = {
    "num_cpus": 4,
    "object_store_memory": 100 * 2**20,
    "include_dashboard": False,
}
ON_RAYLETS = ["routing.type=node_affinity", f"policy.num_eval_policies={NUM_RAYLETS}"]
REPORT_NAME = "answered.json"


def cluster_learning_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Train with the preset on both clusters, one after the other."""
    quick = [f"engine.total_env_steps={QUICK_ENV_STEPS}"] if is_quick else []
    yield from _bars("a Ray of its own", quick)
    with ray_home(), _raylets() as address:
        yield from _bars("three raylets", [*quick, *ON_RAYLETS, f"cluster.address={address}"])


def _bars(where: str, settings: Sequence[str]) -> Iterator[Bar]:
    own = ["cluster.backend=ray", "logging.live=off", *settings]
    command = " ".join(["rlightning train cartpole-ppo", *own])
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        _run([*own, f"logging.folder={folder}"])
        evaluation = final_evaluation(Path(folder))
        (run,) = Path(folder).iterdir()
        counted, reported = _counted_share(run), _reported_share(run)
    seconds = time.monotonic() - started
    name = f"cartpole-ppo >= {MIN_RETURN:g} on {where}"
    yield Bar(name, command, shown(evaluation, seconds), evaluation.mean >= MIN_RETURN)
    yield Bar(
        f"requests that stay on their node >= {MIN_HOME_SHARE:.1%} on {where}",
        command,
        f"{counted:.3%} by counters, {reported:.3%} by what replicas report",
        min(counted, reported) >= MIN_HOME_SHARE,
    )


def _run(settings: Sequence[str]) -> None:
    """Train in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "benchmarks.cluster_learning", *settings],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )


@contextmanager
def _raylets() -> Iterator[str]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, connect=False, head_node_args=RAYLET)
    try:
        for _ in range(NUM_RAYLETS - 1):
            cluster.add_node(**RAYLET)
        cluster.wait_for_nodes()
        yield cluster.address
    finally:
        cluster.shutdown()


def _counted_share(run: Path) -> float:
    """Return the share that stayed at home by the counters of the run."""
    counts: Counter[bool] = Counter()
    for line in (run / "metrics.jsonl").read_text().splitlines():
        for name, number in json.loads(line).items():
            if name.startswith("node_requests/"):
                _, asking, asked = name.split("/")
                counts[asking == asked] += number
    return counts[True] / max(1, counts.total())


def _reported_share(run: Path) -> float:
    """Return the share that stayed at home by what workers told of themselves at the end."""
    told = json.loads((run / REPORT_NAME).read_text())
    counts: Counter[bool] = Counter()
    for node_id, answers in told["answers"]:
        for env_id, number in answers.items():
            counts[told["homes"][env_id] == node_id] += number
    return counts[True] / max(1, counts.total())


class _Asking(Hook):
    """Asks all workers at the end where they are, and the replicas whom they answered."""

    def __init__(self, scaling: Scaling) -> None:
        self._scaling = scaling
        self.told: dict[str, object] = {}

    def run_ended(self) -> None:
        answered = self._scaling.replicas.answered().values()
        self.told = {
            "homes": self._scaling.environments.node_ids(),
            "answers": [(own.node_id, dict(own.counts)) for own in answered],
        }


def main(settings: Sequence[str]) -> None:
    """Train, and write into the run's folder what workers told of themselves."""
    made: list[_Asking] = []

    def create(scaling: Scaling) -> Hook:
        made.append(_Asking(scaling))
        return made[0]

    result = train("cartpole-ppo", list(settings), create_hook=create)
    (result.run_folder / REPORT_NAME).write_text(json.dumps(made[0].told))


if __name__ == "__main__":
    main(sys.argv[1:])
