"""The whole configuration of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    SerializeAsAny,
    Tag,
    model_validator,
)

from rlightning.config.algorithm_config import (
    DEFAULT_ALGORITHM,
    AlgorithmConfig,
    algorithm_settings_model,
)
from rlightning.config.block import ConfigBlock
from rlightning.config.cluster_config import ClusterConfig
from rlightning.config.engine_config import EngineConfig
from rlightning.config.env_config import EnvConfig
from rlightning.config.logging_config import LoggingConfig
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.config.text_forms import RUN_NAME

ONE_ENVIRONMENT = "<one>"
SEVERAL_ENVIRONMENTS = "<several>"


def _number_of_env_blocks(value: object) -> str:
    return SEVERAL_ENVIRONMENTS if isinstance(value, list | tuple) else ONE_ENVIRONMENT


def _at_least_one(blocks: tuple[EnvConfig, ...]) -> tuple[EnvConfig, ...]:
    if not blocks:
        raise ValueError("expected at least one environment block, got an empty list")
    return blocks


def _read_algorithm(value: Any) -> Any:
    """Check the block with the model of the algorithm that it names."""
    if not isinstance(value, Mapping):
        return value
    name = value.get("name", DEFAULT_ALGORITHM)
    model = algorithm_settings_model(name) if isinstance(name, str) else AlgorithmConfig
    return model.model_validate(value)


def _default_algorithm() -> AlgorithmConfig:
    return algorithm_settings_model(DEFAULT_ALGORITHM)()


EnvBlocks = Annotated[
    Annotated[EnvConfig, Tag(ONE_ENVIRONMENT)]
    | Annotated[tuple[EnvConfig, ...], AfterValidator(_at_least_one), Tag(SEVERAL_ENVIRONMENTS)],
    Discriminator(_number_of_env_blocks),
]


class RunConfig(ConfigBlock):
    """Everything that one run depends on."""

    name: str = Field(
        "run",
        pattern=RUN_NAME,
        description="Name of the run; its folder is named after it. Letters, digits, `.`, `_` "
        "and `-`.",
    )
    seed: int = Field(
        0,
        ge=0,
        le=2**31 - 1,
        description="Seed of every random number: same seed, same settings, same machine: "
        "same run.",
    )
    env: EnvBlocks = Field(
        description="The environment, or a list of such blocks for several at once."
    )
    policy: PolicyConfig = Field(default_factory=PolicyConfig)
    routing: RoutingConfig = Field(default_factory=RoutingConfig)
    algorithm: Annotated[SerializeAsAny[AlgorithmConfig], BeforeValidator(_read_algorithm)] = Field(
        default_factory=_default_algorithm
    )
    engine: EngineConfig = Field(default_factory=EngineConfig)
    cluster: ClusterConfig = Field(default_factory=ClusterConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)

    @property
    def env_configs(self) -> tuple[EnvConfig, ...]:
        """The environment blocks as a tuple, also when there is only one."""
        return self.env if isinstance(self.env, tuple) else (self.env,)

    @property
    def num_envs(self) -> int:
        """Number of sub-environments of all workers together."""
        return sum(block.num_workers * block.num_envs for block in self.env_configs)

    @property
    def env_steps_per_iteration(self) -> int:
        """Environment steps that one iteration collects at most."""
        return self.num_envs * self.engine.rollout_length

    @model_validator(mode="after")
    def _refuse_a_minibatch_larger_than_a_rollout(self) -> RunConfig:
        minibatch_size = getattr(self.algorithm, "minibatch_size", None)
        if isinstance(minibatch_size, int) and minibatch_size > self.env_steps_per_iteration:
            raise ValueError(
                f"expected algorithm.minibatch_size of at most {self.env_steps_per_iteration} "
                f"({self.num_envs} sub-environments x engine.rollout_length "
                f"{self.engine.rollout_length}), got {minibatch_size}; make minibatch_size "
                "smaller, or rollout_length or the number of sub-environments larger"
            )
        return self
