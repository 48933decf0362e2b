"""A replica and an environment worker that join and leave a training on Ray while it runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning import train
from rlightning.engine.hooks import Hook
from rlightning.engine.scaling import Scaling
from rlightning.metrics.iteration_report import IterationReport

SECONDS_TO_JOIN = 120.0
SETTINGS = [
    "cluster.backend=ray",
    "cluster.num_cpus=8",
    "cluster.object_store_mib=100",
    "engine.rollout_length=32",
    "engine.total_env_steps=1_000_000",
    "engine.final_evaluation_episodes=0",
    "algorithm.minibatch_size=32",
    "algorithm.num_epochs=1",
    "env.num_workers=2",
    "env.num_envs=2",
    "policy.num_eval_policies=1",
    "routing.type=simple",
    "logging.live=off",
    "logging.tensorboard=false",
]


class EnoughError(Exception):
    """Ends a run that has shown all."""


class GrowAndShrink(Hook):
    """Has a thread add workers while iterations run, then has others leave; notes who was busy."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.added: list[str] = []
        self.reports: list[IterationReport] = []
        self.joined_at = self.left_at = 0
        self.has_added = threading.Event()
        self.thread = threading.Thread(target=self.grow)

    def grow(self) -> None:
        (kind,) = self.scaling.replicas.kinds
        self.added.append(self.scaling.environments.add())
        self.added.append(self.scaling.replicas.add(kind))
        self.has_added.set()

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        self.reports.append(report)
        if report.iteration == 2:
            self.thread.start()
        if report.iteration == 10:
            assert self.has_added.wait(SECONDS_TO_JOIN)
        if self.has_added.is_set() and not self.joined_at:
            self.joined_at = report.iteration
        if self.joined_at and report.iteration == self.joined_at + 2:
            self.scaling.environments.remove("env-0")
            self.scaling.replicas.remove("eval-0", drain_seconds=30.0)
            self.left_at = report.iteration
        if self.left_at and report.iteration == self.left_at + 2:
            raise EnoughError
        return report


@pytest.mark.timeout(300)
def test_a_replica_and_an_environment_worker_join_and_leave_while_training_runs(
    tmp_path: Path,
) -> None:
    made: list[GrowAndShrink] = []

    def create(scaling: Scaling) -> Hook:
        made.append(GrowAndShrink(scaling))
        return made[0]

    with pytest.raises(EnoughError):
        train("cartpole-ppo", [*SETTINGS, f"logging.folder={tmp_path}"], create_hook=create)
    (hook,) = made
    hook.thread.join(SECONDS_TO_JOIN)
    assert hook.added == ["env-2", "eval-1"]
    asked = [{env_id for env_id, _ in report.tasks} for report in hook.reports]
    answering = [{replica for _, replica in report.tasks} for report in hook.reports]
    assert asked[0] == {"env-0", "env-1"}
    assert answering[0] == {"eval-0"}
    assert asked[hook.joined_at] == {"env-0", "env-1", "env-2"}
    assert answering[hook.joined_at] == {"eval-0", "eval-1"}
    assert asked[-1] == {"env-1", "env-2"}
    assert answering[-1] == {"eval-1"}
    assert set(hook.reports[-1].loads.values()) == {0}
    assert hook.reports[-1].faults == {}
    versions = [report.policy_version for report in hook.reports]
    assert versions == sorted(set(versions))
