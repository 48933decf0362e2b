"""The block `policy` of the configuration: network, replicas, device."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, PositiveInt

from rlightning.config.block import ConfigBlock
from rlightning.config.text_forms import DEVICE

ActivationName = Literal["tanh", "relu", "elu", "gelu", "silu"]


class PolicyConfig(ConfigBlock):
    """What the policy is made of and how many replicas of it answer requests."""

    num_eval_policies: PositiveInt = Field(
        default=2,
        description=(
            "Replicas that answer the environment workers. Unit: replicas. Default: 2. "
            "Source: one busy and one free replica is the least that hides a forward."
        ),
    )
    network: str = Field(
        default="auto",
        min_length=1,
        description=(
            "Registered network name (auto, mlp, cnn) or import path 'package.module:Name'. "
            "Unit: name. Default: auto, which takes cnn for uint8 images and mlp for vectors. "
            "Source: Mnih et al. 2015 for images, Schulman et al. 2017 section 6.1 for vectors."
        ),
    )
    hidden_sizes: tuple[PositiveInt, ...] = Field(
        default=(64, 64),
        description=(
            "Width of each hidden layer of the mlp. Unit: neurons. Default: (64, 64). "
            "Source: Schulman et al. 2017, section 6.1."
        ),
    )
    activation: ActivationName = Field(
        default="tanh",
        description=(
            "Non-linearity of the mlp; the cnn always uses relu. Unit: name. Default: tanh. "
            "Source: Schulman et al. 2017, section 6.1."
        ),
    )
    share_trunk: bool = Field(
        default=False,
        description=(
            "One network below both heads instead of one each for actor and critic. "
            "Unit: yes or no. Default: false. Source: Andrychowicz et al. 2021, section 3.2."
        ),
    )
    normalize_observations: bool = Field(
        default=False,
        description=(
            "Scale observations by their running mean and standard deviation; the statistics "
            "travel with the weights. Unit: yes or no. Default: false. "
            "Source: Andrychowicz et al. 2021, section 3.3."
        ),
    )
    observation_clip: float = Field(
        default=10.0,
        gt=0.0,
        description=(
            "Largest absolute normalised observation. Unit: standard deviations. Default: 10. "
            "Source: Engstrom et al. 2020, section 3."
        ),
    )
    initial_log_std: float = Field(
        default=0.0,
        description=(
            "Logarithm of the first standard deviation of continuous actions. "
            "Unit: natural logarithm. Default: 0 (a standard deviation of 1). "
            "Source: Huang et al. 2022, details for continuous actions."
        ),
    )
    device: str = Field(
        default="auto",
        pattern=DEVICE,
        description=(
            "Where the tensors live: auto, cpu, cuda or cuda:<index>. Unit: name. "
            "Default: auto, which takes cuda where there is one and the cpu otherwise. "
            "Source: what the machine offers."
        ),
    )
    kwargs: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "Settings of a user's own network, read by it from this configuration. "
            "Unit: its own. Default: empty. Source: the network's documentation."
        ),
    )
