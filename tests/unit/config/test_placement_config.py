"""The block `cluster.placement`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rlightning.config.loading import load_config
from rlightning.config.yaml_text import config_yaml, parse_yaml
from rlightning.errors import ConfigError


def test_a_configuration_without_placement_has_one_cpu_for_each_worker() -> None:
    placement = load_config({"env": {"id": "A"}}).cluster.placement
    assert placement.strategy == "default"
    for component in (placement.env, placement.eval, placement.train):
        assert (component.cpus, component.gpus, component.memory) == (1, 0, 0)


def test_amounts_come_back_exactly_from_the_stored_configuration() -> None:
    settings = [
        "cluster.placement.eval.gpus=1/9",
        "cluster.placement.env.cpus=0.5",
        "cluster.placement.train.memory=4GiB",
        "cluster.placement.env.labels={zone: a}",
    ]
    config = load_config("cartpole-ppo", settings)
    assert config.cluster.placement.eval.gpus == Fraction(1, 9)
    assert load_config(parse_yaml(config_yaml(config), origin="a test")) == config


def test_manual_takes_counts_and_ranges_by_node_and_label() -> None:
    config = load_config(
        "cartpole-ppo",
        [
            "cluster.placement.strategy=manual",
            "cluster.placement.manual={node-0: {train: 1}, pool=rollout: {env: 2-6, eval: 2}}",
        ],
    )
    assert config.cluster.placement.count_ranges() == {
        "node-0": {"train": (1, 1)},
        "pool=rollout": {"env": (2, 6), "eval": (2, 2)},
    }


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("strategy=pakc", "did you mean 'pack'"),
        ("strategy=manual", "needs to be told who goes where"),
        ("manual={a: {env: 1}}", "no effect with strategy 'default'"),
        ("manual={a: {evn: 1}}", "got 'evn'"),
        ("manual={a: {env: 6-2}}", "a count such as 4"),
        ("manual={a: {env: true}}", "a count such as 4"),
        ("env.gpus=1.5", "whole GPUs"),
        ("env.cpus=-1", "an amount such as"),
        ("env.cpus=true", "expected a number or a text, got true"),
        ("env.cpu=1", "did you mean 'cpus'"),
        ("env.memory=4XB", "memory such as 4GiB"),
    ],
)
def test_a_fault_is_told_with_what_was_expected(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config("cartpole-ppo", [f"cluster.placement.{setting}"])
