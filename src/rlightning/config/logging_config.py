"""Settings of what a run writes and shows."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from rlightning.config.block import ConfigBlock


class LoggingConfig(ConfigBlock):
    """What a run writes into its folder and shows on the screen."""

    folder: str = Field(
        "runs", min_length=1, description="Folder in which every run makes a folder of its own."
    )
    tensorboard: bool = Field(True, description="Write TensorBoard event files.")
    wandb: bool = Field(
        False, description="Send metrics to Weights & Biases; needs the extra `wandb`."
    )
    wandb_project: str = Field(
        "rlightning", min_length=1, description="Project at Weights & Biases."
    )
    live: Literal["auto", "panel", "lines", "off"] = Field(
        "auto",
        description="Progress on the screen: a live `panel`, plain `lines`, `off`, or `auto` "
        "(a panel on a terminal, lines elsewhere).",
    )
    seconds_between_lines: float = Field(
        2.0,
        ge=0,
        description="Least time between two plain lines on the screen, in seconds; the first, "
        "the last and those with an evaluation are always shown. `metrics.jsonl` has all.",
    )

    @field_validator("live", mode="before")
    @classmethod
    def _read_a_yaml_off(cls, value: Any) -> Any:
        """YAML 1.1 reads an unquoted ``off`` as false."""
        return "off" if value is False else value
