"""Settings of the training loop: how long, how often, what is kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rlightning.config.block import ConfigBlock


class EngineConfig(ConfigBlock):
    """The training loop: one iteration collects, updates and publishes new weights."""

    type: Literal["sync"] = Field(
        "sync", description="`sync`: every iteration collects with one version of the policy."
    )
    total_env_steps: int = Field(
        100_000,
        ge=1,
        description="Length of the run in environment steps, summed over all "
        "sub-environments; the run ends with the iteration that reaches it.",
    )
    rollout_length: int = Field(
        128, ge=1, description="Steps that each sub-environment takes in one iteration."
    )
    checkpoint_interval: int = Field(
        10, ge=1, description="Iterations between two checkpoints; the last is always written."
    )
    keep_checkpoints: int = Field(
        3, ge=1, description="Number of newest checkpoints that are kept in the run's folder."
    )
    evaluation_interval: int = Field(
        0, ge=0, description="Iterations between two evaluations during training; 0: none."
    )
    evaluation_episodes: int = Field(
        10, ge=1, description="Episodes of each evaluation during training."
    )
    final_evaluation_episodes: int = Field(
        100, ge=0, description="Episodes of the evaluation after training; 0: none."
    )
    evaluation_num_envs: int = Field(
        8, ge=1, description="Sub-environments that play evaluation episodes side by side."
    )
    update_timeout_seconds: float = Field(
        3600.0,
        gt=0,
        description="Longest wait for one update of the learner, in seconds; then the run ends.",
    )
