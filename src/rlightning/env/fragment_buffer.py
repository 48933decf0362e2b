"""The arrays of one fragment while it is being filled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlightning.env.simulator import StepResult
from rlightning.env.space_kind import SpaceKind
from rlightning.types import ActionBatch, Array, EpisodeRecord, Fragment


class FragmentBuffer:
    """Holds `T` steps of `B` sub-environments and what is seen after them.

    Its arrays are handed out once and never written again: the next fragment has new ones.
    Rows of `observation` are views that may be handed out at once, for the same reason.

    Attributes:
        observation: Row `T` is what is seen after the last step. Shape: (T + 1, B, *shape).
        num_rows: Steps written so far.
        is_full: Whether it has all its steps.
    """

    def __init__(self, kind: SpaceKind, num_steps: int, num_envs: int) -> None:
        space, action_space = kind.observation_space, kind.action_space
        rows = (num_steps, num_envs)
        action_rows = (*rows, *(action_space.shape or ()))
        self.observation: Array = np.empty(
            (num_steps + 1, num_envs, *space.shape), dtype=space.dtype
        )
        self.action: Array = np.empty(action_rows, dtype=action_space.dtype)
        self.log_prob = np.empty(rows, dtype=np.float32)
        self.value = np.empty(rows, dtype=np.float32)
        self.reward = np.empty(rows, dtype=np.float64)
        self.terminated = np.empty(rows, dtype=np.bool_)
        self.truncated = np.empty(rows, dtype=np.bool_)
        self.valid = np.ones(rows, dtype=np.bool_)
        self.policy_version = np.empty(num_steps, dtype=np.int64)
        self.num_rows = 0
        self.is_full = False
        self._num_steps = num_steps
        self._final: list[tuple[int, NDArray[np.int64], Array]] = []

    def add(self, answer: ActionBatch, result: StepResult) -> None:
        """Write one step; its observation after the step stands in row `num_rows + 1` already."""
        row = self.num_rows
        self.action[row] = answer.action
        self.log_prob[row] = answer.log_prob
        self.value[row] = answer.value
        self.policy_version[row] = answer.policy_version
        self.reward[row] = result.reward
        self.terminated[row] = result.terminated
        self.truncated[row] = result.truncated
        if result.reset_rows is not None:
            np.logical_not(result.reset_rows, out=self.valid[row])
        if result.final_rows is not None and result.final_observation is not None:
            self._final.append((row, result.final_rows, result.final_observation))
        self.num_rows = row + 1
        self.is_full = row + 1 == self._num_steps

    def clear_resets(self) -> None:
        """Take reward and flags away from steps that were spent on a reset."""
        self.reward[~self.valid] = 0.0
        self.terminated &= self.valid
        self.truncated &= self.valid

    def finish(self, env_id: str, episodes: tuple[EpisodeRecord, ...]) -> Fragment:
        """Return the fragment; the buffer must not be used any more."""
        index = [np.column_stack((np.full_like(rows, row), rows)) for row, rows, _ in self._final]
        no_index = np.empty((0, 2), dtype=np.int64)
        no_observation = np.empty((0, *self.observation.shape[2:]), self.observation.dtype)
        return Fragment(
            env_id=env_id,
            observation=self.observation[:-1],
            action=self.action,
            log_prob=self.log_prob,
            value=self.value,
            reward=self.reward.astype(np.float32),
            terminated=self.terminated,
            truncated=self.truncated,
            valid=self.valid,
            final_index=np.concatenate([no_index, *index]),
            final_observation=np.concatenate([no_observation, *(o for _, _, o in self._final)]),
            last_observation=self.observation[-1],
            policy_version=self.policy_version,
            episodes=episodes,
        )
