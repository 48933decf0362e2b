"""Settings of one kind of environment and of the workers that host it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StringConstraints

from rlightning.config.block import ConfigBlock
from rlightning.config.text_forms import IMPORT_PATH

Vectorization: TypeAlias = Literal["auto", "native", "sync"]
ImportPath: TypeAlias = Annotated[str, StringConstraints(pattern=IMPORT_PATH)]


class EnvConfig(ConfigBlock):
    """One kind of environment; several may stand side by side in a run.

    Frozen; unknown keys are refused.
    """

    id: str = Field(
        min_length=1,
        description="Gymnasium id such as 'CartPole-v1', or 'module:Env-v0' to import the module "
        "that registers it first. No default.",
    )
    num_workers: int = Field(
        default=1,
        ge=1,
        description="Environment workers of this kind. Unit: workers. Default: 1.",
    )
    num_envs: int = Field(
        default=8,
        ge=1,
        description="Sub-environments that each worker steps as one batch. "
        "Unit: sub-environments. Default: 8.",
    )
    kwargs: dict[str, Any] = Field(
        default_factory=dict,
        description="Arguments given to the environment's constructor. Default: none.",
    )
    wrappers: tuple[ImportPath, ...] = Field(
        default=(),
        description="Wrappers put around every sub-environment, innermost first, each as an "
        "import path 'module:Name' of a callable that takes an environment. Default: none.",
    )
    flatten_observation: bool = Field(
        default=True,
        description="Flatten Dict, Tuple and discrete observations into one vector; if false "
        "they are refused. Default: true.",
    )
    timeout_seconds: float = Field(
        default=60.0,
        gt=0.0,
        allow_inf_nan=False,
        description="A call to a worker (one step of all its sub-environments, or a reset) that "
        "takes longer counts as hung; on Ray the worker is then ended and started again. "
        "Unit: seconds. Default: 60.",
    )
    vectorization: Vectorization = Field(
        default="auto",
        description="'native': the vectorised implementation that the environment registers; "
        "'sync': step the sub-environments one after the other; 'auto': native where there is "
        "one and no wrapper is asked for, else sync. Default: 'auto'.",
    )
