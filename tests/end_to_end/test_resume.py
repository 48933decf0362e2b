"""A resumed run goes on where its checkpoint was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rlightning
from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.evaluation_hook import EvaluationHook
from rlightning.engine.stored_evaluation import read_evaluation
from rlightning.engine.training import RunResult
from rlightning.errors import CheckpointError, RunFolderError

SMALL = [
    "engine.rollout_length=32",
    "engine.checkpoint_interval=1",
    "engine.final_evaluation_episodes=0",
    "algorithm.minibatch_size=64",
    "algorithm.num_epochs=2",
    "policy.normalize_observations=true",
    "logging.live=off",
    "logging.tensorboard=false",
]


def rows_of(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def contents_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def short_run(tmp_path: Path, *overrides: str) -> RunResult:
    settings = [*SMALL, f"logging.folder={tmp_path}", "engine.total_env_steps=1_000", *overrides]
    return rlightning.train("cartpole-ppo", settings)


def test_a_resumed_run_goes_on_in_the_same_folder_and_counts_on(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    second = rlightning.resume(first.run_folder, ["engine.total_env_steps=2_000"])
    assert second.run_folder == first.run_folder
    rows = rows_of(first.run_folder)
    assert [row["iteration"] for row in rows] == list(range(1, second.iterations + 1))
    steps = [row["env_steps"] for row in rows]
    assert steps == sorted(set(steps))
    assert steps[-1] == second.env_steps >= 2_000
    seconds = [row["seconds"] for row in rows]
    assert seconds == sorted(seconds)
    versions = [row["policy_version"] for row in rows]
    assert versions == sorted(set(versions)), "versions only grow, also after a restart"


def test_optimiser_statistics_and_random_states_come_back(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    store = CheckpointStore(first.run_folder / "checkpoints")
    before = store.load_latest()
    rlightning.resume(first.run_folder, ["engine.total_env_steps=2_000"])
    after = store.load_latest()
    (kind,) = before["learner"]
    count_name = "normalizer.moments.count"
    counts = [state["learner"][kind]["policy"][count_name].item() for state in (before, after)]
    assert counts[1] > counts[0] > 0, "the statistics went on from the restored ones"
    assert before["environments"].keys() == after["environments"].keys()
    assert before["environments"] != after["environments"]


def test_metrics_after_the_checkpoint_are_cut(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    store = CheckpointStore(first.run_folder / "checkpoints")
    earlier = store.entries()[-2]
    second = rlightning.resume(earlier.path, ["engine.total_env_steps=1_300"])
    iterations = [row["iteration"] for row in rows_of(second.run_folder)]
    assert iterations == list(range(1, second.iterations + 1))


def test_a_finished_run_stays_as_it_is(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    second = rlightning.resume(first.run_folder)
    assert (second.env_steps, second.iterations) == (first.env_steps, first.iterations)


def test_the_latest_run_is_found_by_word_and_by_name(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    for reference in ("latest", "cartpole-ppo", first.run_folder.name):
        assert rlightning.resume(reference, root=tmp_path).run_folder == first.run_folder


def test_a_checkpoint_of_another_environment_is_refused(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    with pytest.raises(CheckpointError, match="box_4-discrete_2"):
        rlightning.resume(first.run_folder, ["env.id=Acrobot-v1", "engine.total_env_steps=2_000"])


def test_a_refused_resumption_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    first = short_run(tmp_path)
    earlier = CheckpointStore(first.run_folder / "checkpoints").entries()[0].path
    before = contents_of(first.run_folder)
    with pytest.raises(CheckpointError):
        rlightning.resume(earlier, ["env.id=Acrobot-v1", "engine.total_env_steps=2_000"])
    assert contents_of(first.run_folder) == before


def test_checkpoints_after_the_one_that_was_named_are_dropped_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a kill before the next checkpoint would leave a gap in the metrics."""

    def fail(self: EvaluationHook) -> None:
        raise ZeroDivisionError

    first = short_run(tmp_path)
    store = CheckpointStore(first.run_folder / "checkpoints")
    earlier = store.entries()[0]
    monkeypatch.setattr(EvaluationHook, "run_started", fail)
    with pytest.raises(ZeroDivisionError):
        rlightning.resume(earlier.path)
    assert [row["iteration"] for row in rows_of(first.run_folder)][-1] == earlier.iteration
    assert store.latest() == earlier.path


def test_two_runs_cannot_train_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resume_too(self: EvaluationHook) -> None:
        rlightning.resume("latest", root=tmp_path)

    first = short_run(tmp_path)
    before = contents_of(first.run_folder)
    monkeypatch.setattr(EvaluationHook, "run_started", resume_too)
    with pytest.raises(RunFolderError, match="is at work"):
        rlightning.resume(first.run_folder)
    assert contents_of(first.run_folder).keys() == before.keys()
    with pytest.raises(RunFolderError, match="is at work"):
        short_run(tmp_path)


def test_the_final_evaluation_is_stored_and_goes_when_training_goes_on(tmp_path: Path) -> None:
    first = short_run(tmp_path, "engine.final_evaluation_episodes=3")
    path = first.run_folder / "evaluation.json"
    stored = read_evaluation(path)
    assert stored is not None
    assert first.evaluation is not None
    assert (stored.episodes, stored.mean) == (3, first.evaluation.mean_return)
    assert (stored.env_steps, stored.iteration) == (first.env_steps, first.iterations)
    again = rlightning.evaluate(first.run_folder, episodes=3, seed=stored.seed)
    assert again.lengths == stored.lengths
    rlightning.resume(
        first.run_folder, ["engine.total_env_steps=1_300", "engine.final_evaluation_episodes=0"]
    )
    assert not path.exists()


def test_a_missing_run_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    short_run(tmp_path)
    with pytest.raises(RunFolderError, match="cartpole-ppo"):
        rlightning.resume("cartpole-pp", root=tmp_path)
