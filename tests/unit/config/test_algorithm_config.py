"""An own algorithm brings the model of its own settings."""

from __future__ import annotations

from typing import Any

import pytest

from rlightning.config import algorithm_config
from rlightning.config.algorithm_config import (
    AlgorithmConfig,
    algorithm_settings_model,
    register_algorithm,
)
from rlightning.config.loading import load_config
from rlightning.config.ppo_config import PPOConfig
from rlightning.errors import ConfigError
from rlightning.registry import Registry


class CloningConfig(AlgorithmConfig):
    num_epochs: int = 1
    temperature: float = 1.0


class Cloning:
    config_model = CloningConfig


class Plain:
    pass


class Wrong:
    config_model = dict


@pytest.fixture(autouse=True)
def _names_of_this_test_only(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[Any] = Registry("algorithm")
    registry.register("ppo", "rlightning.algorithm.ppo:PPO")
    monkeypatch.setattr(algorithm_config, "ALGORITHMS", registry)
    register_algorithm("cloning", Cloning)
    register_algorithm("plain", Plain)
    register_algorithm("wrong", Wrong)


def test_the_name_chooses_the_model() -> None:
    assert algorithm_settings_model("ppo") is PPOConfig
    assert algorithm_settings_model("cloning") is CloningConfig
    assert algorithm_settings_model("plain") is AlgorithmConfig


def test_settings_of_an_own_algorithm_are_checked_by_its_model() -> None:
    config = load_config({"env": {"id": "A"}, "algorithm": {"name": "cloning", "temperature": 2}})
    assert config.algorithm == CloningConfig(name="cloning", temperature=2.0)
    with pytest.raises(ConfigError, match=r"algorithm.temprature: .*'temperature'"):
        load_config({"env": {"id": "A"}, "algorithm": {"name": "cloning", "temprature": 2}})


def test_another_algorithm_keeps_only_the_settings_that_it_has_too() -> None:
    config = load_config("cartpole-ppo", ["algorithm.name=cloning"])
    assert config.algorithm == CloningConfig(name="cloning", num_epochs=20)


def test_a_setting_given_for_another_algorithm_is_not_dropped_silently() -> None:
    with pytest.raises(ConfigError, match=r"algorithm.clip_range: unknown key"):
        load_config("cartpole-ppo", ["algorithm.name=cloning", "algorithm.clip_range=0.1"])


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown algorithm 'clonin' .did you mean 'cloning'"):
        load_config("cartpole-ppo", ["algorithm.name=clonin"])


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ConfigError, match="registered already"):
        register_algorithm("ppo", Plain)


def test_what_is_no_algorithm_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"expected config_model .* AlgorithmConfig"):
        algorithm_settings_model("wrong")
    with pytest.raises(ConfigError, match="expected a class"):
        algorithm_settings_model("json:loads")
