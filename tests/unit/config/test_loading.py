"""A configuration comes from a preset, a file, a mapping or a ready-made one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.errors import ConfigError


def _file(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def test_a_preset_with_single_settings_over_it() -> None:
    config = load_config("cartpole-ppo", ["seed=7", "engine.total_env_steps=1e6"])
    assert (config.name, config.seed) == ("cartpole-ppo", 7)
    assert config.engine.total_env_steps == 1_000_000
    assert config.engine.rollout_length == 32


def test_an_unknown_preset_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"got 'cartpol-ppo' .did you mean 'cartpole-ppo'"):
        load_config("cartpol-ppo")


def test_a_file_as_text_or_path(tmp_path: Path) -> None:
    path = _file(tmp_path, "env: {id: A}\nseed: 1_0\n")
    assert load_config(path) == load_config(str(path))
    assert load_config(path).seed == 10


def test_a_file_may_stand_on_a_preset(tmp_path: Path) -> None:
    path = _file(tmp_path, "preset: cartpole-ppo\nseed: 3\nenv:\n  num_envs: 16\n")
    config = load_config(path)
    assert config.env == EnvConfig(id="CartPole-v1", num_workers=2, num_envs=16)
    assert config.seed == 3
    assert config.engine.rollout_length == 32


def test_a_list_of_environments_replaces_the_one_of_the_preset(tmp_path: Path) -> None:
    path = _file(tmp_path, "preset: cartpole-ppo\nenv:\n- {id: A, num_envs: 4}\n- {id: B}\n")
    config = load_config(path, ["env.1.num_envs=4"])
    assert config.env == (EnvConfig(id="A", num_envs=4), EnvConfig(id="B", num_envs=4))


@pytest.mark.parametrize(("line", "message"), [("carpole-ppo", "did you mean"), ("3", "got 3")])
def test_a_preset_in_a_file_must_exist(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(_file(tmp_path, f"preset: {line}\n"))


def test_a_mapping_from_python() -> None:
    config = load_config({"preset": "pendulum-ppo", "seed": 2}, {"engine": {"rollout_length": 64}})
    assert config.env_configs[0].id == "Pendulum-v1"
    assert (config.seed, config.engine.rollout_length) == (2, 64)


def test_a_ready_made_configuration() -> None:
    config = RunConfig(env=EnvConfig(id="A"))
    assert load_config(config) == config
    assert load_config(config, ["seed=4"]).seed == 4


def test_a_setting_may_refer_to_another_and_to_the_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUN_FOLDER", "elsewhere")
    path = _file(
        tmp_path,
        "preset: cartpole-ppo\nseed: ${engine.rollout_length}\n"
        "logging: {folder: '${oc.env:RUN_FOLDER}'}\n",
    )
    config = load_config(path)
    assert (config.seed, config.logging.folder) == (32, "elsewhere")


def test_a_reference_to_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot resolve .*'nothing' not found .at seed"):
        load_config(_file(tmp_path, "env: {id: A}\nseed: ${nothing}\n"))


def test_an_object_that_yaml_cannot_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"expected numbers, texts.*env.kwargs.make"):
        load_config({"env": {"id": "A", "kwargs": {"make": object()}}})


def test_another_kind_of_source_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"expected a preset, a path, a mapping .* got int"):
        load_config(3)  # type: ignore[arg-type]


def test_the_message_names_the_source_and_counts_the_faults(tmp_path: Path) -> None:
    path = _file(tmp_path, "env: {id: A}\nsede: 1\n")
    with pytest.raises(ConfigError, match=rf"1 fault in the configuration of {path}:"):
        load_config(path)
    with pytest.raises(ConfigError, match="2 faults in the configuration:"):
        load_config({"a": 1, "env": {"id": "A"}, "b": 2})


def test_an_infinite_argument_of_an_environment_stays_infinite() -> None:
    config = load_config("cartpole-ppo", ["env.kwargs.limit=.inf"])
    assert config.env_configs[0].kwargs == {"limit": float("inf")}
    assert load_config(config).env_configs[0].kwargs == {"limit": float("inf")}
