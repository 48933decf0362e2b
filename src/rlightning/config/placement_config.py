"""The block `cluster.placement`: what each kind of worker asks of a node, and who goes where."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from rlightning.config.block import ConfigBlock
from rlightning.config.quantities import (
    read_bytes,
    read_count_range,
    read_gpu_share,
    read_share,
    stored_share,
)

PlacementStrategy: TypeAlias = Literal["default", "pack", "colocate", "disaggregate", "manual"]
PlacedComponent: TypeAlias = Literal["env", "eval", "train"]

_STORED = PlainSerializer(stored_share, when_used="json")
_NUMBER_OR_TEXT = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})


def _checked_count(value: Any) -> Any:
    read_count_range(value)
    return value


Share: TypeAlias = Annotated[Fraction, BeforeValidator(read_share), _STORED, _NUMBER_OR_TEXT]
GpuShare: TypeAlias = Annotated[Fraction, BeforeValidator(read_gpu_share), _STORED, _NUMBER_OR_TEXT]
MemoryBytes: TypeAlias = Annotated[int, BeforeValidator(read_bytes), _NUMBER_OR_TEXT]
CountOrRange: TypeAlias = Annotated[int | str, BeforeValidator(_checked_count)]


class ComponentPlacement(ConfigBlock):
    """What one worker of a kind asks of the node that it lives on."""

    cpus: Share = Field(
        Fraction(1),
        description="CPUs of one worker, also in parts: `2`, `0.5`, `1/3`. Default: 1.",
    )
    gpus: GpuShare = Field(
        Fraction(0),
        description="GPUs of one worker: a part of one, such as `1/9`, or whole ones. Default: 0.",
    )
    memory: MemoryBytes = Field(
        0, description="Memory of one worker, such as `4GiB`; 0: not counted. Unit: bytes."
    )
    accelerator_type: str | None = Field(
        None, min_length=1, description="Kind of GPU that the node must have, such as `A100`."
    )
    labels: dict[str, str] = Field(
        default_factory=dict,
        description="Labels that the node must have, such as `{pool: rollout}`.",
    )


class PlacementConfig(ConfigBlock):
    """On which node each worker of a cluster lives."""

    strategy: PlacementStrategy = Field(
        "default",
        description="`default`: spread evenly; `pack`: on as few nodes as possible; `colocate`: "
        "environments and replicas only beside a learner; `disaggregate`: learners on nodes of "
        "their own; `manual`: as `manual` says.",
    )
    env: ComponentPlacement = Field(
        default_factory=ComponentPlacement, description="What one environment worker asks for."
    )
    eval: ComponentPlacement = Field(
        default_factory=ComponentPlacement, description="What one replica asks for."
    )
    train: ComponentPlacement = Field(
        default_factory=ComponentPlacement, description="What the learner asks for."
    )
    manual: dict[str, dict[PlacedComponent, CountOrRange]] = Field(
        default_factory=dict,
        description="Workers by node: a node id, or a label `name=value` for all nodes that have "
        "it together; below it `env`, `eval` or `train` with a count or a range such as `2-6`. "
        "Only with `strategy: manual`.",
    )

    @model_validator(mode="after")
    def _refuse_settings_without_effect(self) -> PlacementConfig:
        if self.strategy == "manual" and not self.manual:
            raise ValueError(
                "strategy 'manual' needs to be told who goes where, got no entry; set "
                "cluster.placement.manual={node-0: {env: 4}} or choose another strategy"
            )
        if self.strategy != "manual" and self.manual:
            raise ValueError(
                f"manual has no effect with strategy {self.strategy!r}; set "
                "cluster.placement.strategy=manual or leave manual out"
            )
        return self

    def count_ranges(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """Return `manual` with every count as the least and the largest number."""
        return {
            entry: {component: read_count_range(value) for component, value in counts.items()}
            for entry, counts in self.manual.items()
        }
