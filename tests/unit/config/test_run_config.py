"""The whole configuration: one or several environments, open algorithms, checks across blocks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rlightning.config.env_config import EnvConfig
from rlightning.config.ppo_config import PPOConfig
from rlightning.config.run_config import RunConfig


def test_an_environment_is_all_that_must_be_given() -> None:
    config = RunConfig.model_validate({"env": {"id": "CartPole-v1"}})
    assert config.env_configs == (EnvConfig(id="CartPole-v1"),)
    assert config.algorithm == PPOConfig()


def test_several_environments_stand_side_by_side() -> None:
    blocks = [{"id": "A", "num_workers": 2, "num_envs": 3}, {"id": "B", "num_envs": 4}]
    config = RunConfig.model_validate({"env": blocks, "engine": {"rollout_length": 7}})
    assert [block.id for block in config.env_configs] == ["A", "B"]
    # 2 workers x 3 sub-environments + 1 worker x 4 = 10; 10 x 7 steps = 70
    assert config.num_envs == 10
    assert config.env_steps_per_iteration == 70


def test_a_list_without_environments_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least one environment block"):
        RunConfig.model_validate({"env": []})


def test_a_minibatch_fits_into_a_rollout() -> None:
    values = {
        "env": {"id": "A", "num_envs": 2},
        "engine": {"rollout_length": 16},
        "algorithm": {"minibatch_size": 32},
    }
    assert RunConfig.model_validate(values).env_steps_per_iteration == 32
    values["algorithm"] = {"minibatch_size": 33}
    with pytest.raises(ValidationError, match=r"of at most 32 .2 sub-environments x .* got 33"):
        RunConfig.model_validate(values)


@pytest.mark.parametrize("name", ["", "a/b", "../x", ".hidden", "a b", "-x"])
def test_a_name_that_is_no_folder_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        RunConfig.model_validate({"env": {"id": "A"}, "name": name})


@pytest.mark.parametrize("seed", [-1, 2**31, True, "one"])
def test_a_seed_that_no_generator_takes_is_refused(seed: object) -> None:
    with pytest.raises(ValidationError, match="seed"):
        RunConfig.model_validate({"env": {"id": "A"}, "seed": seed})


def test_a_ready_made_algorithm_block_is_taken_as_it_is() -> None:
    block = PPOConfig(num_epochs=3)
    assert RunConfig(env=EnvConfig(id="A"), algorithm=block).algorithm is block
