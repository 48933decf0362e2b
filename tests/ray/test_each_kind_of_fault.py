"""Each kind of fault once, at a seeded moment of a training, by the program that measures them."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from rlightning.config.loading import load_config
from rlightning.engine import evaluation
from rlightning.engine.assembly import AssemblyPlan, assemble
from rlightning.engine.evaluation import evaluate_weights
from rlightning.engine.evaluation_engine import EvaluationEngine, EvaluationResult
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_state import RunState
from rlightning.metrics.recorder import Recorder
from rlightning.testing.faults.kinds import FAULT_KINDS
from rlightning.testing.faults.process_ids import process_id_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[2]
SEED = 1
OF_ONE_WORKER = [
    "kill-replica",
    "kill-environment",
    "freeze-replica",
    "freeze-environment",
    "raise-in-step",
]
TOLERATED = ["slow-replica", "full-store"]


@pytest.fixture(scope="module", autouse=True)
def _benchmarks_are_importable() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(str(ROOT))
        yield


def _raylets(num_nodes: int, **options: Any) -> Any:
    return importlib.import_module("benchmarks.raylets").Raylets(num_nodes, **options)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, for all faults that do no harm to a node."""
    with _raylets(2) as raylets:
        yield raylets


@pytest.fixture
def cluster_to_harm() -> Iterator[Any]:
    """Three nodes for one test."""
    with _raylets(3) as raylets:
        yield raylets


@pytest.fixture
def frugal_cluster() -> Iterator[Any]:
    """Two nodes that end workers as soon as a few GiB more are in use than now."""
    with _raylets(2, limits_memory=True) as raylets:
        yield raylets


def told_after(cluster: Any, kind: str) -> dict[str, int]:
    """Run once with the fault; return what the run, which must be sound, tells of it."""
    series = importlib.import_module("benchmarks.fault_series")
    found = series.run_short_on(cluster, kind, 1, SEED)
    (run,) = found.runs
    assert run.victims
    assert run.wrong == []
    assert found.left_behind == []
    told: dict[str, int] = run.told
    return told


def count(told: dict[str, int], what: str) -> int:
    return sum(number for name, number in told.items() if f"/{what}/" in name)


@pytest.mark.parametrize("kind", OF_ONE_WORKER)
def test_a_worker_that_is_lost_is_started_anew(cluster: Any, kind: str) -> None:
    assert count(told_after(cluster, kind), "restarts") == 1


def test_a_removed_node_costs_the_fragments_of_its_workers(cluster_to_harm: Any) -> None:
    assert count(told_after(cluster_to_harm, "remove-node"), "restarts") >= 1


@pytest.mark.parametrize(
    "kind", ["raise-in-act", pytest.param("raise-in-act-always", marks=pytest.mark.long)]
)
def test_a_request_whose_replica_raised_goes_to_another(cluster: Any, kind: str) -> None:
    told = told_after(cluster, kind)
    assert count(told, "restarts") == 0
    assert count(told, "retried_calls") >= 1


@pytest.mark.parametrize("kind", TOLERATED)
def test_what_only_takes_time_costs_nothing(cluster: Any, kind: str) -> None:
    assert told_after(cluster, kind) == {}


@pytest.mark.parametrize(
    "kind", ["memory-of-replica", pytest.param("memory-of-environment", marks=pytest.mark.long)]
)
def test_workers_that_were_ended_for_want_of_memory_are_started_anew(
    frugal_cluster: Any, kind: str
) -> None:
    assert count(told_after(frugal_cluster, kind), "restarts") >= 1


def test_every_kind_of_fault_is_tried_here() -> None:
    others = ["remove-node", "raise-in-act", "raise-in-act-always"]
    of_memory = ["memory-of-replica", "memory-of-environment"]
    assert {*OF_ONE_WORKER, *TOLERATED, *others, *of_memory} == set(FAULT_KINDS)


def initial_state() -> dict[str, Any]:
    config = load_config("cartpole-ppo")
    with assemble(config, AssemblyPlan(config.env_configs, rollout_length=8, seed=0)) as assembly:
        progress = TrainingProgress(1)
        return RunState(assembly.environments, assembly.policies, progress, Recorder([])).capture()


class KillingEngine(EvaluationEngine):
    """Kills the process of an environment worker before the first evaluation."""

    has_killed = False

    def run(self, num_episodes: int) -> EvaluationResult:
        if not KillingEngine.has_killed:
            KillingEngine.has_killed = True
            os.kill(process_id_of(self._environments.handles()[0]), signal.SIGKILL)
        return super().run(num_episodes)


@pytest.mark.long
def test_an_evaluation_whose_environment_worker_is_killed_begins_anew(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ["cluster.backend=ray", f"cluster.address={cluster.address}"]
    config = load_config("cartpole-ppo", [*settings, "policy.num_eval_policies=1"])
    state = initial_state()
    monkeypatch.setattr(evaluation, "EvaluationEngine", KillingEngine)
    result = evaluate_weights(config, state, 4)
    assert result.num_repeats == 1
    assert result.num_episodes == 4
    assert cluster.is_idle()
