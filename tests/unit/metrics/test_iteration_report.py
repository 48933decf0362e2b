from __future__ import annotations

import json
import math

import numpy as np
import pytest

from rlightning.testing.iteration_reports import create_iteration_report


def test_a_row_is_flat_and_holds_every_number_under_its_name():
    row = create_iteration_report(3).as_row()

    assert row["iteration"] == 3
    assert row["env_steps"] == 3000
    assert row["episode_return_mean"] == 32.0
    assert row["episode_length_mean"] == 15.0
    assert row["num_episodes"] == 2
    assert row["kl"] == 0.004
    assert row["time/update_seconds"] == 0.2
    assert row["router/least-loaded"] == 24
    assert row["load/eval-0"] == 1
    assert row["queue_wait_seconds/eval-0"] == 0.01
    assert row["tasks/env-1/eval-1"] == 3
    assert not any(isinstance(value, dict | list | tuple) for value in row.values())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_is_not_finite_becomes_null_and_the_row_is_strict_json(value):
    row = create_iteration_report(algorithm={"kl": value}).as_row()

    assert row["kl"] is None
    assert json.loads(json.dumps(row, allow_nan=False))["kl"] is None


def test_numpy_numbers_become_plain_numbers():
    row = create_iteration_report(
        algorithm={"kl": np.float32(0.5)}, loads={"eval-0": np.int64(3)}
    ).as_row()

    assert json.loads(json.dumps(row))["kl"] == 0.5
    assert json.loads(json.dumps(row))["load/eval-0"] == 3


def test_before_the_first_episode_the_returns_are_null():
    row = create_iteration_report(episodes=()).as_row()

    assert row["episode_return_mean"] is None
    assert row["episode_length_mean"] is None
    assert row["num_episodes"] == 0


def test_an_evaluation_is_in_the_row_only_of_its_iteration():
    with_evaluation = create_iteration_report(evaluation={"return_mean": 7.0}).as_row()

    assert with_evaluation["evaluation/return_mean"] == 7.0
    assert not any(name.startswith("evaluation") for name in create_iteration_report().as_row())


def test_faults_have_a_name_for_each_worker_and_are_absent_without_any() -> None:
    row = create_iteration_report(faults={"restarts/env-0": 2, "dropped_steps/env-0": 64}).as_row()
    assert row["faults/restarts/env-0"] == 2
    assert row["faults/dropped_steps/env-0"] == 64
    assert not any(name.startswith("faults/") for name in create_iteration_report().as_row())
