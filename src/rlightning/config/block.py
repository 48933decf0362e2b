"""What all blocks of the configuration have in common."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class ConfigBlock(BaseModel):
    """A frozen piece of the configuration that refuses unknown keys, NaN and infinity.

    Every field carries a description with its unit; the reference page is made from them.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="constants",  # arguments of an environment may be infinite
    )

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_a_truth_value_as_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse ``true`` where a number is meant; Python would read it as 1."""
        if _holds_bool(value) and not _allows_bool(_annotation(cls, info)):
            raise ValueError(f"expected a number or a text, got {str(value).lower()}")
        return value


def _annotation(block: type[BaseModel], info: ValidationInfo) -> Any:
    return block.model_fields[str(info.field_name)].annotation


def _holds_bool(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_bool(item) for item in value)
    return isinstance(value, bool)


def _allows_bool(annotation: Any) -> bool:
    return annotation in (bool, Any, object) or any(
        _allows_bool(part) for part in get_args(annotation)
    )
