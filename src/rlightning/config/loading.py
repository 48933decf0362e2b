"""Load a configuration: a preset, a file or a mapping, and single settings over it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from rlightning.config.algorithm_config import (
    DEFAULT_ALGORITHM,
    AlgorithmConfig,
    algorithm_settings_model,
)
from rlightning.config.faults import describe_faults
from rlightning.config.overrides import Overrides, apply_overrides
from rlightning.config.preset_library import preset_text
from rlightning.config.run_config import RunConfig
from rlightning.config.yaml_text import describe_omegaconf_error, parse_yaml, read_yaml_file
from rlightning.errors import ConfigError

ConfigSource: TypeAlias = RunConfig | str | Path | Mapping[str, Any]
"""A configuration, the name of a preset, the path of a YAML file, or nested mappings."""

_YAML_SUFFIXES = (".yaml", ".yml")


def load_config(source: ConfigSource, overrides: Overrides = ()) -> RunConfig:
    """Read, lay the overrides over it, and check everything.

    A mapping or a file may name a preset under the key ``preset``; what it sets itself is laid
    over that preset. Where a layer names another algorithm than the one below, only those
    settings from below stay that the other algorithm has too.

    Args:
        source: Where the configuration comes from.
        overrides: ``["engine.total_env_steps=1e6"]``, or a mapping with such keys.

    Raises:
        ConfigError: If anything is wrong; the message lists every fault found.
    """
    settings = _layers(source)
    faults = _lay_overrides(settings, overrides)
    plain = _plain(settings)
    try:
        config = RunConfig.model_validate(plain)
    except ValidationError as error:
        faults += describe_faults(error, plain)
        raise ConfigError(_message(source, faults)) from error
    if faults:
        raise ConfigError(_message(source, faults))
    return config


def _layers(source: ConfigSource) -> DictConfig:
    """Return the settings of the source, over those of the preset that it names."""
    settings = _read(source)
    preset = settings.pop("preset", None)
    if preset is None:
        return settings
    if not isinstance(preset, str):
        raise ConfigError(f"expected the name of a preset under 'preset', got {preset!r}")
    below = parse_yaml(preset_text(preset), origin=f"preset {preset}")
    _lay_over(below, settings)
    return below


def _lay_overrides(settings: DictConfig, overrides: Overrides) -> list[str]:
    """Change `settings` in place and return the faults of the overrides."""
    trial = copy.deepcopy(settings)
    apply_overrides(trial, overrides)
    _keep_common_algorithm_settings(settings, _algorithm_name(trial))
    return apply_overrides(settings, overrides)


def _lay_over(below: DictConfig, above: DictConfig) -> None:
    """Merge blocks; what is no block on both sides, such as a list of them, is replaced."""
    _keep_common_algorithm_settings(below, _algorithm_name(above))
    for key, value in _plain(above, resolve=False).items():
        if isinstance(value, dict) and isinstance(below.get(key), DictConfig):
            OmegaConf.update(below, key, value, merge=True, force_add=True)
        else:
            below[key] = value


def _read(source: ConfigSource) -> DictConfig:
    if isinstance(source, RunConfig):
        return OmegaConf.create(source.model_dump(mode="json"))
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"expected a preset, a path, a mapping or a RunConfig, got {type(source).__name__}"
        )
    if isinstance(source, Path) or _looks_like_a_file(source):
        return read_yaml_file(Path(source))
    return parse_yaml(preset_text(source), origin=f"preset {source}")


def _from_mapping(source: Mapping[str, Any]) -> DictConfig:
    try:
        return OmegaConf.create(dict(source))
    except OmegaConfBaseException as error:
        raise ConfigError(
            "expected numbers, texts, lists and mappings in the configuration, got another "
            f"object: {describe_omegaconf_error(error)}"
        ) from error


def _looks_like_a_file(source: str) -> bool:
    return source.endswith(_YAML_SUFFIXES) or "/" in source


def _algorithm_name(settings: DictConfig) -> str | None:
    block = settings.get("algorithm")
    name = block.get("name") if isinstance(block, DictConfig) else None
    return None if name is None else str(name)


def _keep_common_algorithm_settings(below: DictConfig, name: str | None) -> None:
    """Drop those algorithm settings that the algorithm `name` of the layer above has not."""
    present = _algorithm_name(below) or DEFAULT_ALGORITHM
    block = below.get("algorithm")
    if name in (None, present) or not isinstance(block, DictConfig):
        return
    only_below = set(_setting_names(present)) - set(_setting_names(str(name)))
    for key in only_below & {str(key) for key in block}:
        del block[key]


def _setting_names(algorithm: str) -> list[str]:
    try:
        return list(algorithm_settings_model(algorithm).model_fields)
    except ConfigError:
        return list(AlgorithmConfig.model_fields)


def _plain(settings: DictConfig, *, resolve: bool = True) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", OmegaConf.to_container(settings, resolve=resolve))
    except OmegaConfBaseException as error:
        raise ConfigError(
            "cannot resolve a reference ${...} in the configuration: "
            + describe_omegaconf_error(error)
        ) from error


def _message(source: ConfigSource, faults: list[str]) -> str:
    origin = f" of {source}" if isinstance(source, str | Path) else ""
    count, them = ("1 fault", "it") if len(faults) == 1 else (f"{len(faults)} faults", "them")
    advice = f"correct {them}; 'rlightning config --reference' explains every setting"
    return "\n  ".join([f"{count} in the configuration{origin}:", *faults]) + f"\n{advice}"
