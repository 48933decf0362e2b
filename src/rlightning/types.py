"""The frozen records that travel between workers.

Letters of shapes: `T` steps of a fragment, `B` sub-environments of one environment worker,
`N` truncated episode ends within a fragment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float32]
BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ObservationBatch:
    """The newest observations of one environment worker: a request for actions.

    Attributes:
        env_id: Id of the environment worker, such as ``env-3``.
        observation: What the sub-environments show now. Shape: (B, *observation_shape).
        noise: Random numbers from the worker's own generator, which turn a distribution into
            actions; who answers the request draws none. Shape: (B, noise_size).
    """

    env_id: str
    observation: Array
    noise: FloatArray


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """The answer of a replica to one `ObservationBatch`.

    Attributes:
        env_id: Id of the environment worker that asked.
        action: As drawn from the distribution, not clipped. Shape: (B, *action_shape).
        log_prob: Of exactly these actions. Shape: (B,).
        value: Estimated return from here. Shape: (B,).
        policy_version: Version of the weights that computed this answer.
        replica_id: Who computed it, such as ``eval-1``.
    """

    env_id: str
    action: Array
    log_prob: FloatArray
    value: FloatArray
    policy_version: int
    replica_id: str


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One finished episode of one sub-environment.

    Attributes:
        env_id: Id of the sub-environment, such as ``env-3/5``.
        episode_return: Undiscounted sum of the rewards.
        length: Number of environment steps.
        terminated: True if the environment ended it, False if it was truncated.
    """

    env_id: str
    episode_return: float
    length: int
    terminated: bool


@dataclass(frozen=True, slots=True)
class Fragment:
    """`T` consecutive steps of one environment worker.

    Rows that a simulator spends on a reset are not valid and count nowhere.

    Attributes:
        env_id: Id of the environment worker.
        observation: Seen before the action. Shape: (T, B, *observation_shape).
        action: As drawn, not clipped. Shape: (T, B, *action_shape).
        log_prob: Of the action, under the policy that drew it. Shape: (T, B).
        value: Estimated by the policy that acted. Shape: (T, B).
        reward: Shape: (T, B).
        terminated: The environment ended the episode with this step. Shape: (T, B).
        truncated: The episode was cut off after this step, not ended. Shape: (T, B).
        valid: False where the step was spent on a reset. Shape: (T, B).
        final_index: Rows ``(t, b)`` of the steps that were truncated and not terminated.
            Shape: (N, 2).
        final_observation: The true last observations of those. Shape: (N, *observation_shape).
        last_observation: What is seen after the last step. Shape: (B, *observation_shape).
        policy_version: Version that drew each step's actions. Shape: (T,).
        episodes: Episodes that ended within the fragment, in order of their end.
    """

    env_id: str
    observation: Array
    action: Array
    log_prob: FloatArray
    value: FloatArray
    reward: FloatArray
    terminated: BoolArray
    truncated: BoolArray
    valid: BoolArray
    final_index: NDArray[np.int64]
    final_observation: Array
    last_observation: Array
    policy_version: NDArray[np.int64]
    episodes: tuple[EpisodeRecord, ...]

    @property
    def num_steps(self) -> int:
        """Number of rows `T`."""
        return int(self.reward.shape[0])

    @property
    def num_envs(self) -> int:
        """Number of sub-environments `B`."""
        return int(self.reward.shape[1])

    @property
    def num_valid(self) -> int:
        """Number of real environment steps in the fragment."""
        return int(self.valid.sum())


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one update did and what it was made of.

    Attributes:
        metrics: Losses and other figures; with several kinds of environment each name is
            prefixed with ``<kind>/``.
        episodes: Episodes that ended within the fragments.
        num_steps: Environment steps within the fragments; resets are not counted.
        policy_versions: Versions that collected the fragments, ascending.
    """

    metrics: Mapping[str, float]
    episodes: tuple[EpisodeRecord, ...]
    num_steps: int
    policy_versions: tuple[int, ...]
