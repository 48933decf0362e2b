"""YAML in and out; faults of the text are told with file, line and column."""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rlightning.config.run_config import RunConfig
from rlightning.errors import ConfigError
from rlightning.registry import did_you_mean


def read_yaml_file(path: Path) -> DictConfig:
    """Read a file that holds one mapping.

    Raises:
        ConfigError: If the file cannot be read or its text is no YAML mapping.
    """
    return parse_yaml(_text_of(path), origin=str(path))


def parse_yaml(text: str, *, origin: str) -> DictConfig:
    """Read a text that holds one mapping; a key given twice is refused.

    Args:
        text: YAML 1.1, with ``1e-3`` read as a number.
        origin: Where the text comes from, for error messages.

    Raises:
        ConfigError: If the text is no YAML mapping; the message tells line and column.
    """
    try:
        _require_mapping(yaml.compose(text, Loader=yaml.SafeLoader), origin)
        return cast("DictConfig", OmegaConf.load(io.StringIO(text)))
    except yaml.YAMLError as error:
        raise ConfigError(
            f"cannot read {origin} as YAML: {describe_yaml_error(error)}; correct that line"
        ) from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"cannot read {origin}: {describe_omegaconf_error(error)}") from error


def describe_yaml_error(error: yaml.YAMLError) -> str:
    """Return the problem in one line, with line and column where they are known."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    if mark is None:
        return str(problem)
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}"


def describe_omegaconf_error(error: OmegaConfBaseException) -> str:
    """Return the problem in one line, with the path of the setting where it is known."""
    problem = str(error).partition("\n")[0]
    return f"{problem} (at {error.full_key})" if error.full_key else problem


def config_yaml(config: RunConfig) -> str:
    """Return the whole configuration as YAML that can be loaded again."""
    return yaml.safe_dump(
        config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100
    )


def _require_mapping(node: yaml.Node | None, origin: str) -> None:
    """Refuse a list or a single value; an empty text is an empty mapping."""
    if node is None or isinstance(node, yaml.MappingNode):
        return
    found = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
    raise ConfigError(
        f"expected blocks such as 'env:' and 'engine:' in {origin}, got {found}; "
        "see `rlightning config cartpole-ppo` for an example"
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(
            f"expected a YAML file, got {str(path)!r}, which does not exist"
            f"{did_you_mean(path.name, _names_beside(path))}; correct the path, or name a preset"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"expected a YAML file in UTF-8, got other bytes in {path}; save it as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"expected a YAML file, cannot read {path}: {error.strerror}; name a file or a preset"
        ) from error


def _names_beside(path: Path) -> list[str]:
    folder = path.parent
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
