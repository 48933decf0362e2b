"""Workers die at random moments of a real training; it goes on and tells exactly what was lost."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import rlightning
from rlightning.engine import training_run
from rlightning.engine.checkpoint import CheckpointStore
from rlightning.errors import NoEvalPolicyError, WorkerLostError
from rlightning.testing.supervised_training import SupervisedTraining

NUM_ENVS = 4
ROLLOUT_LENGTH = 16
SMALL = [
    "engine.total_env_steps=1_280",
    f"engine.rollout_length={ROLLOUT_LENGTH}",
    "algorithm.minibatch_size=64",
    "algorithm.num_epochs=1",
    "env.num_workers=2",
    f"env.num_envs={NUM_ENVS}",
    "env.wrappers=[test_restarts:CountedSteps]",
    "cluster.restart_backoff_seconds=0.01",
    "logging.live=off",
    "logging.tensorboard=false",
]
CALLS_OF_SMALL_RUN = 1_280 // NUM_ENVS * 2

num_steps_taken: Counter[str] = Counter()


class CountedSteps(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts every step that any environment takes."""

    def step(self, action: Any) -> Any:
        num_steps_taken["all"] += 1
        return super().step(action)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "test_restarts", sys.modules[__name__])
    num_steps_taken.clear()


@pytest.fixture(params=["inline", "threads"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def training(mode: str, *overrides: str) -> SupervisedTraining:
    return SupervisedTraining("cartpole-ppo", [*SMALL, f"cluster.mode={mode}", *overrides])


def moment(number: int, share: float = 1.0) -> int:
    """Return a random number of calls within that share of a small run."""
    return random.Random(number).randint(1, int(share * CALLS_OF_SMALL_RUN))


def assert_nothing_is_wrong(run: SupervisedTraining, num_unanswered: int) -> None:
    """Check what holds after every run, whatever died in it.

    Args:
        run: A run that has ended.
        num_unanswered: Most steps that were taken and could not be answered any more.
    """
    used = sum(fragment.num_valid for fragment in run.fragments)
    dropped = sum(run.assembly.environments.dropped_steps().values())
    assert run.progress.is_complete
    assert run.progress.env_steps == used
    assert 0 <= num_steps_taken["all"] - used - dropped <= num_unanswered
    assert set(run.assembly.policies.loads().values()) == {0}
    assert run.assembly.ledger.report() == "in flight: nothing"
    rows = np.concatenate([part.observation.reshape(-1, 4) for part in run.fragments])
    assert len(np.unique(rows, axis=0)) == len(rows), "no step is used twice"
    for part in run.fragments:
        assert part.num_steps == ROLLOUT_LENGTH
        assert len(set(part.policy_version)) == 1
    versions = [int(part.policy_version[0]) for part in run.fragments]
    assert versions == sorted(versions)


def test_an_undisturbed_run_reports_no_fault(mode: str) -> None:
    with training(mode) as run:
        run.run()
        assert_nothing_is_wrong(run, 0)
    assert run.progress.env_steps == 1_280
    assert all(report.faults == {} for report in run.reports)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("routing", ["sync", "async"])
def test_B36_B42_a_dead_replica_is_left_out_and_works_again_after_its_restart(
    mode: str, routing: str, number: int
) -> None:
    with training(mode, f"routing.mode={routing}") as run:
        run.kill_after_calls(moment(number, 0.5), ["eval-1"], on_own_thread=mode == "threads")
        run.run()
        assert_nothing_is_wrong(run, 0)
        assert run.supervisor.restarts() == {"eval-1": 1}
        assert run.handle("eval-1").incarnation == 2
        assert run.handle("eval-1").call("policy_version").result() == run.progress.iteration
        assert run.assembly.environments.dropped_steps() == {}
    asked = Counter(replica for report in run.reports[-2:] for _, replica in report.tasks)
    assert routing == "async" or asked["eval-1"] > 0


@pytest.mark.parametrize("number", range(5))
def test_B44_B45_a_dead_environment_worker_costs_its_fragment_and_nothing_else(
    mode: str, number: int
) -> None:
    with training(mode) as run:
        run.kill_after_calls(moment(number), ["env-0"], on_own_thread=mode == "threads")
        run.run()
        assert_nothing_is_wrong(run, NUM_ENVS if mode == "threads" else 0)
        assert run.supervisor.restarts() == {"env-0": 1}
        dropped = run.assembly.environments.dropped_steps()
        assert set(dropped) <= {"env-0"}
        assert dropped.get("env-0", 0) <= ROLLOUT_LENGTH * NUM_ENVS
    kept = Counter(fragment.env_id for fragment in run.fragments)
    assert kept["env-1"] - kept["env-0"] <= 1, "it is back in the next iteration"
    assert kept["env-1"] == run.progress.iteration, "the other one is not disturbed"


@pytest.mark.parametrize("number", range(5))
def test_B49_with_all_replicas_dead_a_request_has_one_restarted_at_once(
    mode: str, number: int
) -> None:
    with training(mode) as run:
        run.kill_after_calls(moment(number), ["eval-0", "eval-1"], on_own_thread=mode == "threads")
        run.run()
        assert_nothing_is_wrong(run, 0)
        assert run.supervisor.restarts() == {"eval-0": 1, "eval-1": 1}
        assert run.assembly.environments.dropped_steps() == {}


@pytest.mark.parametrize("number", range(5))
def test_the_only_environment_worker_is_restarted_rather_than_update_on_nothing(
    mode: str, number: int
) -> None:
    with training(mode, "env.num_workers=1") as run:
        run.kill_after_calls(moment(number), ["env-0"], on_own_thread=mode == "threads")
        run.run()
        assert_nothing_is_wrong(run, NUM_ENVS if mode == "threads" else 0)
        assert run.supervisor.restarts() == {"env-0": 1}
    assert len(run.fragments) == run.progress.iteration == 20


@pytest.mark.parametrize("number", range(3))
def test_everything_but_the_learner_may_die_at_the_same_moment(mode: str, number: int) -> None:
    victims = ["eval-1", "env-0", "eval-0", "env-1"]
    with training(mode) as run:
        run.kill_after_calls(moment(number), victims, on_own_thread=mode == "threads")
        run.run()
        assert_nothing_is_wrong(run, 2 * NUM_ENVS if mode == "threads" else 0)
        assert run.supervisor.restarts() == dict.fromkeys(victims, 1)


def test_lost_work_is_reported_to_the_step() -> None:
    """One reset and 4 steps are answered when the worker dies: 4 steps of 4 sub-environments."""
    with training("inline") as run:
        seen: Counter[str] = Counter()

        def count(worker_id: str) -> None:
            seen[worker_id] += 1
            if worker_id == "env-1" and seen["env-1"] == 5:
                run.handle("env-1").kill()

        run.assembly.ledger.on_release(count)
        run.run()
        assert_nothing_is_wrong(run, 0)
    assert run.reports[0].faults == {"restarts/env-1": 1, "dropped_steps/env-1": 16}
    assert run.reports[0].env_steps == 64
    row = run.reports[-1].as_row()
    assert (row["faults/restarts/env-1"], row["faults/dropped_steps/env-1"]) == (1, 16)


def test_calls_that_another_replica_had_to_answer_are_counted() -> None:
    with training("inline") as run:
        run.kill_after_calls(40, ["eval-0"])
        run.run()
        assert run.reports[-1].faults == {"restarts/eval-0": 1, "retried_calls/eval-0": 1}


def test_a_spent_budget_ends_the_run_and_says_who_where_why_and_since_when(mode: str) -> None:
    with (
        pytest.raises(
            WorkerLostError,
            match=r"(?s)'env-0' \(incarnation 1, node local\).*cluster\.max_restarts=0.*cause: "
            r"WorkerDiedError: .*was killed.*last sign of life: worker 'env-0' is.*resume",
        ) as caught,
        training(mode, "cluster.max_restarts=0") as run,
    ):
        run.kill_after_calls(50, ["env-0"], on_own_thread=mode == "threads")
        run.run()
    assert caught.value.worker_id == "env-0"


def test_B49_requests_that_nobody_can_answer_end_the_run_with_the_reason(mode: str) -> None:
    with (
        pytest.raises(NoEvalPolicyError, match=r"WorkerLostError.*cluster\.max_restarts=0"),
        training(mode, "cluster.max_restarts=0", "policy.num_eval_policies=1") as run,
    ):
        run.kill_after_calls(50, ["eval-0"], on_own_thread=mode == "threads")
        run.run()


def test_a_worker_that_dies_again_and_again_spends_its_budget(mode: str) -> None:
    with (
        pytest.raises(WorkerLostError, match=r"incarnation 4.*its 3 restarts are spent") as caught,
        training(mode) as run,
    ):
        for calls in (50, 150, 250, 350):
            run.kill_after_calls(calls, ["env-1"])
        run.run()
    assert caught.value.worker_id == "env-1"
    assert run.supervisor.restarts() == {"env-1": 3}


@pytest.mark.parametrize("number", range(3))
def test_the_death_of_the_learner_ends_the_run_and_resume_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, number: int
) -> None:
    overrides = [
        *SMALL,
        f"logging.folder={tmp_path}",
        f"cluster.mode={mode}",
        "engine.checkpoint_interval=1",
        "engine.final_evaluation_episodes=0",
    ]
    calls = random.Random(number).randint(CALLS_OF_SMALL_RUN // 3, CALLS_OF_SMALL_RUN)
    assemble = training_run.assemble

    def assemble_to_be_hurt(*arguments: Any) -> Any:
        assembly = assemble(*arguments)
        num_calls = Counter[str]()

        def count(worker_id: str) -> None:
            num_calls["all"] += 1
            if num_calls["all"] == calls:
                assembly.policies.learner.kill()

        assembly.ledger.on_release(count)
        return assembly

    monkeypatch.setattr(training_run, "assemble", assemble_to_be_hurt)
    with pytest.raises(WorkerLostError, match=r"'learner-0'.*rlightning resume"):
        rlightning.train("cartpole-ppo", overrides)
    monkeypatch.setattr(training_run, "assemble", assemble)
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink()]
    kept = CheckpointStore(folder / "checkpoints").load_latest()["progress"]
    assert 0 < kept["env_steps"] < 1_280
    result = rlightning.resume(folder)
    assert result.env_steps == 1_280
    assert result.iterations == 10
