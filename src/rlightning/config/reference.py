"""The page of all settings, made from the models so that it cannot go stale."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from rlightning.config.algorithm_config import DEFAULT_ALGORITHM, algorithm_settings_model
from rlightning.config.cluster_config import ClusterConfig
from rlightning.config.engine_config import EngineConfig
from rlightning.config.env_config import EnvConfig
from rlightning.config.logging_config import LoggingConfig
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.preset_library import preset_names, preset_summary
from rlightning.config.routing_config import RoutingConfig
from rlightning.config.run_config import RunConfig

_INTRODUCTION = """\
# Configuration

A run is described by one YAML file, or by a preset and single settings over it:

```console
$ rlightning train cartpole-ppo seed=1 engine.total_env_steps=200_000
$ rlightning train my_run.yaml env.num_envs=16
```

A file may name a preset under the key `preset` and set only what differs. Where it, or a
setting on the command line, names another algorithm, only those algorithm settings of the
preset stay that the other algorithm has too. `env` is one block or a list of blocks; a block of
a list is reached by its number, `env.0.num_envs=16`. Values are YAML: `1e-3`, `[64, 64]`,
`true`, `null`; `${oc.env:NAME}` reads an environment variable, `${seed}` another setting.
Unknown keys and values without meaning are refused, all at once.

`rlightning config PRESET` prints all settings of a preset, ready to be saved as a file;
`rlightning config --schema` prints a JSON schema for editors.
"""


def configuration_reference() -> str:
    """Return the page `docs/configuration.md`: presets, and every setting of every block."""
    sections = [_INTRODUCTION, _presets(), _section("The run", "", _run_fields())]
    for name, block in _blocks().items():
        sections.append(_section(f"`{name}`", _summary(block), dict(_paths(name, block))))
    return "\n".join(sections)


def setting_paths() -> list[str]:
    """Return the paths of all settings, such as ``engine.total_env_steps``."""
    in_blocks = [path for name, block in _blocks().items() for path, _ in _paths(name, block)]
    return [*_run_fields(), *in_blocks]


def configuration_schema() -> dict[str, Any]:
    """Return the JSON schema of a configuration file.

    The block `algorithm` lists the settings of the built-in algorithm and leaves room for those
    of others.
    """
    schema = RunConfig.model_json_schema()
    known = algorithm_settings_model(DEFAULT_ALGORITHM).model_json_schema()
    known["additionalProperties"] = True
    definitions = {**schema["$defs"], **known.pop("$defs", {}), "AlgorithmConfig": known}
    properties = {
        "preset": {
            "type": "string",
            "enum": preset_names(),
            "description": "Preset that everything else is laid over.",
        },
        **schema["properties"],
    }
    plain = {key: value for key, value in schema.items() if key != "required"}
    return {**plain, "$defs": definitions, "properties": properties}


def _blocks() -> dict[str, type[BaseModel]]:
    return {
        "env": EnvConfig,
        "policy": PolicyConfig,
        "routing": RoutingConfig,
        "algorithm": algorithm_settings_model(DEFAULT_ALGORITHM),
        "engine": EngineConfig,
        "cluster": ClusterConfig,
        "logging": LoggingConfig,
    }


def _presets() -> str:
    rows = [f"| `{name}` | {preset_summary(name)} |" for name in preset_names()]
    return "\n".join(["## Presets", "", "| preset | what it does |", "|---|---|", *rows, ""])


def _run_fields() -> dict[str, FieldInfo]:
    fields = RunConfig.model_fields
    return {name: field for name, field in fields.items() if name not in _blocks()}


def _paths(block_name: str, block: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield every setting with its path; a block within the block stands for its settings."""
    for name, field in block.model_fields.items():
        path, inner = f"{block_name}.{name}", field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _paths(path, inner)
        else:
            yield path, field


def _section(title: str, summary: str, fields: dict[str, FieldInfo]) -> str:
    rows = [
        f"| `{path}` | {_type_text(field.annotation)}{_limits(field)} | {_default_text(field)} | "
        f"{_cell(field.description or '')} |"
        for path, field in fields.items()
    ]
    head = [f"## {title}", "", *([summary, ""] if summary else [])]
    table = ["| setting | type | default | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(head + table)


def _summary(block: type[BaseModel]) -> str:
    return (block.__doc__ or "").strip().partition("\n")[0]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _type_text(annotation: Any) -> str:
    """Return a type in the words of a YAML file."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in parts)
    if origin is tuple:
        return f"list of {_type_text(parts[0])}"
    if origin is dict:
        return "mapping"
    if origin is not None and hasattr(annotation, "__metadata__"):
        return _type_text(parts[0])
    if type(None) in parts or origin is Union:
        return " or ".join(_type_text(part) for part in parts)
    words = {
        int: "whole number",
        float: "number",
        Fraction: "number or fraction",
        bool: "true or false",
        str: "text",
    }
    return words.get(annotation, "`null`" if annotation is type(None) else "block")


def _limits(field: FieldInfo) -> str:
    """Return the allowed range, such as ``, at least 1``."""
    words = {
        Gt: ("gt", "above"),
        Ge: ("ge", "at least"),
        Lt: ("lt", "below"),
        Le: ("le", "at most"),
    }
    limits = [
        f", {words[type(limit)][1]} {getattr(limit, words[type(limit)][0])}"
        for limit in field.metadata
        if type(limit) in words
    ]
    return "".join(limits)


def _default_text(field: FieldInfo) -> str:
    default = copy.copy(field.get_default(call_default_factory=True, validated_data={}))
    if default is PydanticUndefined:
        return "none: must be set"
    if default is None:
        return "`null`"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return f"`{list(default)}`"
    return f"`{default}`"
