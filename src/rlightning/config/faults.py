"""Say what is wrong with a configuration: path, expected, got, and the nearest name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rlightning.config.algorithm_config import DEFAULT_ALGORITHM, algorithm_settings_model
from rlightning.config.run_config import ONE_ENVIRONMENT, SEVERAL_ENVIRONMENTS, RunConfig
from rlightning.config.text_forms import TEXT_FORMS
from rlightning.errors import ConfigError
from rlightning.registry import nearest_name

_EXPECTED = {
    "greater_than": "a number greater than {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than": "a number less than {lt}",
    "less_than_equal": "a number of at most {le}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "literal_error": "{expected}",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "settings as key: value",
    "invalid_key": "a text as key",
    "model_type": "a block of settings as key: value",
}


def describe_faults(error: ValidationError, settings: Mapping[str, Any]) -> list[str]:
    """Return one line for each fault, in the order of the blocks.

    Args:
        error: What the models refused.
        settings: What was given to them.
    """
    return [_describe(details, settings) for details in error.errors()]


def _describe(details: ErrorDetails, settings: Mapping[str, Any]) -> str:
    path = tuple(
        part for part in details["loc"] if part not in (ONE_ENVIRONMENT, SEVERAL_ENVIRONMENTS)
    )
    where = ".".join(str(part) for part in path)
    prefix = f"{where}: " if where else ""
    return prefix + _complaint(details, path, settings)


def _complaint(
    details: ErrorDetails, path: tuple[str | int, ...], settings: Mapping[str, Any]
) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(path, settings)
    if kind == "missing":
        return "expected a value, got none; it has no default, so set it"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        form = TEXT_FORMS.get(context["pattern"], f"a text of the form {context['pattern']}")
        return f"expected {form}, got {_show(details['input'])}"
    if kind not in _EXPECTED:
        return f"{details['msg']}, got {_show(details['input'])}"
    expected = _EXPECTED[kind].format(**context)
    got = _show(details["input"])
    return f"expected {expected}, got {got}{_nearest_value(details)}"


def _nearest_value(details: ErrorDetails) -> str:
    """Offer the allowed word that is spelled most like the one given."""
    if details["type"] != "literal_error":
        return ""
    allowed = re.findall(r"'([^']*)'", details["ctx"]["expected"])
    nearest = nearest_name(str(details["input"]), allowed)
    return f" (did you mean {nearest!r}?)" if nearest else ""


def _unknown_key(path: tuple[str | int, ...], settings: Mapping[str, Any]) -> str:
    key = str(path[-1])
    block = _block_at(path[:-1], settings)
    known = list(block.model_fields) if block else []
    nearest = nearest_name(key, known) or _same_key_elsewhere(key, settings)
    if nearest:
        return f"unknown key (did you mean {nearest!r}?)"
    return f"unknown key; expected one of {', '.join(known)}"


def _same_key_elsewhere(key: str, settings: Mapping[str, Any]) -> str | None:
    """Return the full path of a setting that has this name in another block."""
    for block_name in RunConfig.model_fields:
        block = _block_at((block_name,), settings)
        if block and key in block.model_fields:
            return f"{block_name}.{key}"
    return None


def _block_at(path: tuple[str | int, ...], settings: Mapping[str, Any]) -> type[BaseModel] | None:
    """Return the model that checks the block at a path."""
    block: type[BaseModel] | None = RunConfig
    for part in path:
        if isinstance(part, int) or block is None:
            continue
        if block is RunConfig and part == "algorithm":
            block = _algorithm_model(settings)
        else:
            field = block.model_fields.get(part)
            block = _model_within(field.annotation) if field else None
    return block


def _algorithm_model(settings: Mapping[str, Any]) -> type[BaseModel] | None:
    given = settings.get("algorithm", {})
    name = given.get("name", DEFAULT_ALGORITHM) if isinstance(given, Mapping) else None
    try:
        return algorithm_settings_model(str(name))
    except ConfigError:
        return None


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_within(part) for part in get_args(annotation))
    return next((model for model in found if model), None)


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
