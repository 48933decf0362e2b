from __future__ import annotations

import pytest

from rlightning.metrics.names import METRIC_NAMES, describe_metric, tensorboard_tag
from rlightning.testing.iteration_reports import create_iteration_report


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("episode_return_mean", "rollout/episode_return_mean"),
        ("kl", "losses/kl"),
        ("learning_rate", "train/learning_rate"),
        ("my_own_loss", "train/my_own_loss"),
        ("steps_per_second", "time/steps_per_second"),
        ("time/update_seconds", "time/update_seconds"),
        ("evaluation/return_mean", "evaluation/return_mean"),
        ("load/eval-0", "routing/load/eval-0"),
        ("router/least-loaded", "routing/router/least-loaded"),
        ("faults/restarts/env-0", "faults/restarts/env-0"),
        ("CartPole-v1/kl", "losses/kl/CartPole-v1"),
        ("ALE/Pong-v5/kl", "losses/kl/ALE/Pong-v5"),
        ("CartPole-v1/my_own_loss", "train/my_own_loss/CartPole-v1"),
    ],
)
def test_a_name_has_its_place_in_tensorboard(name, tag):
    assert tensorboard_tag(name) == tag


def test_every_name_of_a_report_is_in_the_table():
    report = create_iteration_report(evaluation={"return_mean": 1.0}, faults={"restarts/env-0": 1})

    described = {describe_metric(name).name for name in report.as_row()}
    assert described <= {metric.name for metric in METRIC_NAMES}


def test_the_table_has_no_name_twice_and_a_meaning_for_each():
    names = [metric.name for metric in METRIC_NAMES]

    assert len(names) == len(set(names))
    assert all(metric.meaning.endswith(".") for metric in METRIC_NAMES)


def test_the_mean_return_says_over_how_many_episodes():
    assert "last 100 episodes" in describe_metric("episode_return_mean").meaning
