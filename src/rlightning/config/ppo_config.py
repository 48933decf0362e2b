"""The block `algorithm` of the configuration for proximal policy optimisation.

Sources named by the fields:

- Schulman et al. 2017, "Proximal Policy Optimization Algorithms", arXiv:1707.06347.
- Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized Advantage
  Estimation", arXiv:1506.02438.
- Engstrom et al. 2020, "Implementation Matters in Deep Policy Gradients", arXiv:2005.12729.
- Andrychowicz et al. 2021, "What Matters in On-Policy Reinforcement Learning?", arXiv:2006.05990.
- Huang et al. 2022, "The 37 Implementation Details of Proximal Policy Optimization", ICLR blog.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from rlightning.config.algorithm_config import AlgorithmConfig

ScheduleName = Literal["linear", "constant"]


class PPOConfig(AlgorithmConfig):
    """Settings of `rlightning.algorithm.ppo.PPO`; settings of variants derive from it."""

    name: str = Field(
        default="ppo",
        min_length=1,
        description="Which algorithm. Unit: name. Default: ppo. Source: Schulman et al. 2017.",
    )
    learning_rate: PositiveFloat = Field(
        default=3e-4,
        description=(
            "Step size of Adam at the start. Unit: none. Default: 0.0003. "
            "Source: Schulman et al. 2017, table 3."
        ),
    )
    learning_rate_schedule: ScheduleName = Field(
        default="linear",
        description=(
            "linear falls to 0 over the run, constant stays. Unit: name. Default: linear. "
            "Source: Engstrom et al. 2020, section 3; Huang et al. 2022, detail 4."
        ),
    )
    adam_epsilon: PositiveFloat = Field(
        default=1e-5,
        description=(
            "Added to Adam's denominator. Unit: none. Default: 0.00001. "
            "Source: Huang et al. 2022, detail 3."
        ),
    )
    num_epochs: PositiveInt = Field(
        default=10,
        description=(
            "Passes over the collected steps in one update. Unit: epochs. Default: 10. "
            "Source: Schulman et al. 2017, table 3."
        ),
    )
    minibatch_size: PositiveInt = Field(
        default=64,
        description=(
            "Most steps in one gradient step; the collected steps are split evenly into as few "
            "minibatches as that allows. Unit: environment steps. Default: 64. "
            "Source: Schulman et al. 2017, table 3."
        ),
    )
    discount: float = Field(
        default=0.99,
        ge=0.0,
        le=1.0,
        description=(
            "Weight of a reward one step later (gamma). Unit: per environment step. "
            "Default: 0.99. Source: Schulman et al. 2017, table 3."
        ),
    )
    gae_lambda: float = Field(
        default=0.95,
        ge=0.0,
        le=1.0,
        description=(
            "Weight of a temporal difference one step later (lambda). Unit: per environment "
            "step. Default: 0.95. Source: Schulman et al. 2016; 2017, table 3."
        ),
    )
    clip_range: PositiveFloat = Field(
        default=0.2,
        description=(
            "How far the probability ratio may leave 1 (epsilon). Unit: ratio. Default: 0.2. "
            "Source: Schulman et al. 2017, table 1."
        ),
    )
    clip_range_schedule: ScheduleName = Field(
        default="constant",
        description=(
            "linear falls to 0 over the run, constant stays. Unit: name. Default: constant. "
            "Source: Schulman et al. 2017, table 5 has linear for Atari."
        ),
    )
    clip_range_value: PositiveFloat | None = Field(
        default=None,
        description=(
            "How far a value may leave the collected one before its loss is clipped; null is "
            "off. Unit: value (scaled reward). Default: null. "
            "Source: Huang et al. 2022, detail 9; Andrychowicz et al. 2021 advise against it."
        ),
    )
    entropy_coefficient: NonNegativeFloat = Field(
        default=0.0,
        description=(
            "Weight of the entropy bonus (c2). Unit: per nat. Default: 0. "
            "Source: Schulman et al. 2017, equation 9 and section 6.1."
        ),
    )
    value_coefficient: NonNegativeFloat = Field(
        default=0.5,
        description=(
            "Weight of the mean squared value error (c1). Unit: none. Default: 0.5. "
            "Source: Schulman et al. 2017, equation 9; Huang et al. 2022, detail 10."
        ),
    )
    max_gradient_norm: PositiveFloat | None = Field(
        default=0.5,
        description=(
            "Largest Euclidean norm of the whole gradient; null is off. Unit: none. "
            "Default: 0.5. Source: Huang et al. 2022, detail 11."
        ),
    )
    target_kl: PositiveFloat | None = Field(
        default=None,
        description=(
            "An update ends after the epoch whose mean approximate divergence exceeds 1.5 times "
            "this; null is off. Unit: nats. Default: null. "
            "Source: Schulman et al. 2017, section 4; Huang et al. 2022, early stopping."
        ),
    )
    normalize_advantages: bool = Field(
        default=True,
        description=(
            "Bring the advantages of each minibatch to mean 0 and standard deviation 1. "
            "Unit: yes or no. Default: true. Source: Huang et al. 2022, detail 7."
        ),
    )
    normalize_rewards: bool = Field(
        default=False,
        description=(
            "Divide rewards by the running standard deviation of the discounted return. "
            "Unit: yes or no. Default: false. Source: Engstrom et al. 2020, algorithm 1."
        ),
    )
    reward_clip: PositiveFloat = Field(
        default=10.0,
        description=(
            "Largest absolute reward after that division. Unit: standard deviations. "
            "Default: 10. Source: Engstrom et al. 2020, section 3."
        ),
    )
