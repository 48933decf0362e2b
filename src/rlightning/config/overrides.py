"""Single settings given as ``key=value`` or from Python, laid over a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import yaml
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rlightning.config.yaml_text import describe_omegaconf_error

Overrides: TypeAlias = Mapping[str, Any] | Sequence[str]
"""Texts ``key=value``, or a mapping; keys may have dots: ``engine.total_env_steps``."""


def apply_overrides(settings: DictConfig, overrides: Overrides) -> list[str]:
    """Change `settings` in place and return the faults of those overrides that cannot be laid.

    A later override of the same key wins.
    """
    faults: list[str] = []
    for key, value in _pairs(overrides, faults):
        fault = _set(settings, key, value)
        if fault:
            faults.append(fault)
    return faults


def _pairs(overrides: Overrides, faults: list[str]) -> Iterable[tuple[str, Any]]:
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator or not _is_path(key):
            faults.append(f"{text!r}: expected key=value, such as engine.total_env_steps=200000")
            continue
        try:
            yield key, _yaml_value(value)
        except (yaml.YAMLError, OmegaConfBaseException):
            faults.append(f"{key}: cannot read {value!r} as a YAML value; quote it")


def _yaml_value(text: str) -> Any:
    """Read one YAML value; references ``${...}`` stay as they are."""
    holder = OmegaConf.to_container(OmegaConf.from_dotlist([f"value={text}"]), resolve=False)
    return cast("dict[str, Any]", holder)["value"]


def _is_path(key: str) -> bool:
    return all(part and part == part.strip() for part in key.split("."))


def _set(settings: DictConfig, key: str, value: Any) -> str | None:
    """Set one value; return the fault if there is one."""
    parent = OmegaConf.select(settings, key.rpartition(".")[0]) if "." in key else settings
    last = key.rpartition(".")[2]
    if isinstance(parent, ListConfig) and not last.isdecimal():
        first = f"{key.rpartition('.')[0]}.0.{last}"
        return f"{key}: expected the number of a block, since this is a list; such as {first}"
    if not isinstance(parent, DictConfig | ListConfig | None):
        return f"{key}: expected a setting, got one within the single value {parent!r}"
    try:
        OmegaConf.update(settings, key, value, merge=isinstance(value, Mapping), force_add=True)
    except OmegaConfBaseException as error:
        return f"{key}: {describe_omegaconf_error(error)}"
    return None
