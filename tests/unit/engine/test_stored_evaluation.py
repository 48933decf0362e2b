"""The final evaluation as a file."""

from __future__ import annotations

import json

import pytest

from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.stored_evaluation import StoredEvaluation, read_evaluation
from rlightning.errors import RunFolderError


@pytest.fixture
def stored():
    progress = TrainingProgress(total_env_steps=100)
    progress.advance(num_steps=128, seconds=2.5)
    result = EvaluationResult(returns=(1.0, 3.0), lengths=(10, 30))
    return StoredEvaluation.of(result, progress, seed=7, deterministic=True)


def test_it_says_what_was_played_and_how_much_training_is_behind_it(tmp_path, stored):
    stored.write(tmp_path / "evaluation.json")
    assert json.loads((tmp_path / "evaluation.json").read_text()) == {
        "episodes": 2,
        "mean": 2.0,
        "std": 1.0,
        "min": 1.0,
        "max": 3.0,
        "lengths": [10, 30],
        "seed": 7,
        "deterministic": True,
        "iteration": 1,
        "env_steps": 128,
        "seconds": 2.5,
    }


def test_it_is_read_back_as_it_was(tmp_path, stored):
    stored.write(tmp_path / "evaluation.json")
    assert read_evaluation(tmp_path / "evaluation.json") == stored


def test_a_run_that_is_not_complete_has_none(tmp_path):
    assert read_evaluation(tmp_path / "evaluation.json") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"lengths":[1]}'])
def test_a_file_with_something_else_is_one_clear_error(tmp_path, text):
    (tmp_path / "evaluation.json").write_text(text)
    with pytest.raises(RunFolderError, match="expected the final evaluation of a run"):
        read_evaluation(tmp_path / "evaluation.json")


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path, stored):
    with pytest.raises(RunFolderError, match="cannot write .*missing"):
        stored.write(tmp_path / "missing" / "evaluation.json")
