"""The `algorithm` block is open: each algorithm brings the model of its own settings."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rlightning.config.block import ConfigBlock
from rlightning.errors import ConfigError
from rlightning.registry import Registry

DEFAULT_ALGORITHM = "ppo"


class AlgorithmConfig(ConfigBlock):
    """Settings that all algorithms have; own algorithms derive their settings from it."""

    name: str = Field(
        DEFAULT_ALGORITHM,
        min_length=1,
        description="Algorithm: `ppo`, a name given to `register_algorithm`, or an import path "
        "`package.module:Class`.",
    )


ALGORITHMS: Registry[Any] = Registry("algorithm")
"""Classes of algorithms by name; built-in ones are imported when first asked for."""
ALGORITHMS.register("ppo", "rlightning.algorithm.ppo:PPO")

_SETTINGS_OF_BUILT_INS: Registry[type[AlgorithmConfig]] = Registry("algorithm")
_SETTINGS_OF_BUILT_INS.register("ppo", "rlightning.config.ppo_config:PPOConfig")


def register_algorithm(name: str, algorithm: type[Any] | str) -> None:
    """Let `algorithm.name` in a configuration mean this class.

    Args:
        name: New name.
        algorithm: The class, or ``"package.module:Class"``. Its attribute `config_model`, a
            subclass of `AlgorithmConfig`, says which settings stand beside the name.

    Raises:
        ConfigError: If the name is taken.
    """
    ALGORITHMS.register(name, algorithm)


def algorithm_settings_model(name: str) -> type[AlgorithmConfig]:
    """Return the model that the `algorithm` block of this name is checked with.

    Raises:
        ConfigError: If the name is unknown, or its `config_model` is no `AlgorithmConfig`.
    """
    if name in _SETTINGS_OF_BUILT_INS.names():
        return _SETTINGS_OF_BUILT_INS.get(name)
    algorithm = ALGORITHMS.get(name)
    if not isinstance(algorithm, type):
        raise ConfigError(f"expected a class as algorithm {name!r}, got {algorithm!r}")
    model = getattr(algorithm, "config_model", AlgorithmConfig)
    if not (isinstance(model, type) and issubclass(model, AlgorithmConfig)):
        raise ConfigError(
            f"expected config_model of algorithm {name!r} to be a subclass of AlgorithmConfig, "
            f"got {model!r}; derive it from rlightning.config.algorithm_config.AlgorithmConfig"
        )
    return model
