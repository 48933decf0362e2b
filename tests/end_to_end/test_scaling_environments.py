"""Environment workers that join and leave a training that goes on."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path

import pytest

from rlightning import resume, train
from rlightning.engine.cluster_nodes import FINDERS, FoundNodes
from rlightning.engine.hooks import Hook
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.scaling import Scaling
from rlightning.errors import EnvironmentFailedError, PlacementError
from rlightning.metrics.iteration_report import IterationReport
from rlightning.testing.supervised_training import SupervisedTraining

NUM_ENVS, LENGTH = 2, 8
SETTINGS = [
    f"engine.rollout_length={LENGTH}",
    "engine.final_evaluation_episodes=0",
    "algorithm.minibatch_size=16",
    "algorithm.num_epochs=1",
    "env.num_workers=2",
    f"env.num_envs={NUM_ENVS}",
    "policy.num_eval_policies=2",
    "logging.live=off",
    "logging.tensorboard=false",
]


class Grower(Hook):
    """Does something after chosen iterations, and notes which workers take part."""

    def __init__(self, scaling: Scaling, plan: dict[int, str]) -> None:
        self._scaling = scaling
        self._plan = plan
        self.seen: dict[int, tuple[str, ...]] = {}

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        self.seen[report.iteration] = tuple(sorted({env_id for env_id, _ in report.tasks}))
        for wish in self._plan.get(report.iteration, "").split():
            if wish == "add":
                self._scaling.environments.add()
            else:
                self._scaling.environments.remove(wish)
        return report


def growers(made: list[Grower], plan: dict[int, str]):
    def create(scaling: Scaling) -> Hook:
        made.append(Grower(scaling, plan))
        return made[-1]

    return create


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_workers_come_and_go_by_a_hook_of_the_user(mode: str, tmp_path: Path) -> None:
    made: list[Grower] = []
    plan = {1: "add add", 3: "env-0 env-2"}
    settings = [*SETTINGS, f"cluster.mode={mode}", f"logging.folder={tmp_path}"]
    steps = NUM_ENVS * LENGTH * (2 + 4 + 4 + 2 + 2)
    result = train(
        "pendulum-ppo",
        [*settings, f"engine.total_env_steps={steps}"],
        create_hook=growers(made, plan),
    )
    all_four = ("env-0", "env-1", "env-2", "env-3")
    assert made[0].seen == {
        1: ("env-0", "env-1"),
        2: all_four,
        3: all_four,
        4: ("env-1", "env-3"),
        5: ("env-1", "env-3"),
    }
    assert result.env_steps == steps
    rows = [
        json.loads(line) for line in (result.run_folder / "metrics.jsonl").read_text().splitlines()
    ]
    assert [row["env_steps"] for row in rows][1] == NUM_ENVS * LENGTH * 6
    assert not any(name.startswith("dropped_steps/") for row in rows for name in row)


def test_a_run_resumed_after_scaling_has_the_configured_workers(tmp_path: Path) -> None:
    """env-2 had joined and env-0 had left; who joins after the resume is env-3."""
    made: list[Grower] = []
    settings = [*SETTINGS, "engine.checkpoint_interval=1", f"logging.folder={tmp_path}"]
    first = train(
        "pendulum-ppo",
        [*settings, f"engine.total_env_steps={NUM_ENVS * LENGTH * 6}"],
        create_hook=growers(made, {1: "add env-0"}),
    )
    assert made[0].seen[3] == ("env-1", "env-2")
    checkpoint = RunFolder(first.run_folder).checkpoints_path
    assert any(checkpoint.iterdir())
    resume(
        first.run_folder,
        [f"engine.total_env_steps={NUM_ENVS * LENGTH * 11}"],
        create_hook=growers(made, {4: "add"}),
    )
    assert made[1].seen == {4: ("env-0", "env-1"), 5: ("env-0", "env-1", "env-3")}


def test_a_thread_of_the_user_adds_and_removes_while_an_iteration_runs() -> None:
    settings = [*SETTINGS, "cluster.mode=threads", "engine.total_env_steps=640"]
    done: list[str] = []
    with SupervisedTraining("pendulum-ppo", settings) as run:
        environments = run.assembly.scaling.environments
        is_time, has_changed = threading.Event(), threading.Event()

        def scale() -> None:
            assert is_time.wait(30.0)
            done.append(environments.add())
            environments.remove("env-0", drain_seconds=30.0)
            has_changed.set()

        def iteration_ended(report: IterationReport) -> IterationReport:
            assert report.iteration != 5 or has_changed.wait(30.0)
            return report

        run.iteration_ended = iteration_ended  # type: ignore[method-assign]
        helper = threading.Thread(target=scale)
        helper.start()
        run.after_calls(50, is_time.set)
        run.run()
        helper.join(30.0)
        assert environments.env_ids == ("env-1", "env-2")
        assert run.assembly.ledger.loads(["env-0", "env-1", "env-2", "eval-0", "eval-1"]) == [0] * 5
        assert run.assembly.manager.place_of("env-0") is None
    assert done == ["env-2"]
    assert run.assembly.environments.dropped_steps() == {}
    counts = Counter(fragment.env_id for fragment in run.fragments)
    assert counts["env-1"] > counts["env-2"] > counts["env-0"] > 0
    assert run.progress.env_steps == sum(counts.values()) * NUM_ENVS * LENGTH


def test_where_nothing_can_be_added_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    with SupervisedTraining("pendulum-ppo", [*SETTINGS, "cluster.mode=threads"]) as run:
        environments = run.assembly.scaling.environments
        before = run.assembly.manager.request
        monkeypatch.setitem(FINDERS, "in_process", lambda *args: FoundNodes(()))
        with pytest.raises(PlacementError, match="no node for worker env 2"):
            environments.add()
        assert run.assembly.manager.request == before
        assert environments.env_ids == ("env-0", "env-1")
        with pytest.raises(EnvironmentFailedError, match="expected an environment worker"):
            environments.remove("env-9")


def test_a_worker_that_cannot_be_made_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("the simulator's licence is used up")

    with SupervisedTraining("pendulum-ppo", [*SETTINGS, "cluster.mode=threads"]) as run:
        environments = run.assembly.scaling.environments
        monkeypatch.setattr("rlightning.env.worker.make_vector_env", fail)
        with pytest.raises(RuntimeError, match="licence"):
            environments.add()
        monkeypatch.undo()
        assert run.assembly.manager.place_of("env-2") is None
        assert environments.add() == "env-3"
