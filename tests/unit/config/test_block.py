"""Every block is frozen and strict about numbers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field, ValidationError

from rlightning.config.block import ConfigBlock
from rlightning.config.cluster_config import ClusterConfig
from rlightning.config.engine_config import EngineConfig
from rlightning.config.env_config import EnvConfig
from rlightning.config.logging_config import LoggingConfig
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.ppo_config import PPOConfig
from rlightning.config.routing_config import RoutingConfig

BLOCKS = [
    ClusterConfig, EngineConfig, EnvConfig, LoggingConfig, PolicyConfig, PPOConfig, RoutingConfig,
]  # fmt: skip


class Sample(ConfigBlock):
    count: int = 1
    share: float | None = None
    widths: tuple[int, ...] = ()
    is_on: bool = False
    anything: dict[str, Any] = Field(default_factory=dict)


@pytest.mark.parametrize(
    "values",
    [
        {"count": True},
        {"share": False},
        {"widths": [1, True]},
        {"share": float("nan")},
        {"share": float("inf")},
        {"count": 1.5},
        {"colour": 1},
    ],
)
def test_what_is_no_number_is_not_taken_for_one(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate(values)


def test_a_truth_value_is_taken_where_one_is_meant() -> None:
    sample = Sample(is_on=True, anything={"a": True})
    assert sample.is_on
    assert sample.anything == {"a": True}


def test_a_whole_number_may_be_written_with_an_exponent() -> None:
    assert Sample(count=1e6).count == 1_000_000


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_share_the_base_and_describe_every_setting(block: type[ConfigBlock]) -> None:
    assert issubclass(block, ConfigBlock)
    assert not [name for name, field in block.model_fields.items() if not field.description]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_cannot_be_changed(block: type[ConfigBlock]) -> None:
    values = {"id": "CartPole-v1"} if block is EnvConfig else {}
    name = next(iter(block.model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(block.model_validate(values), name, "other")


def test_an_unquoted_off_of_yaml_turns_the_live_view_off() -> None:
    assert LoggingConfig.model_validate({"live": False}).live == "off"
