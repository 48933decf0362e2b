"""Returns and lengths of episodes, also of those that span several fragments."""

from __future__ import annotations

import numpy as np

from rlightning.types import BoolArray, EpisodeRecord, FloatArray


class EpisodeTracker:
    """Follows the episodes of one environment worker from fragment to fragment."""

    def __init__(self, env_id: str, num_envs: int) -> None:
        self._env_id = env_id
        self._open_return = np.zeros(num_envs, dtype=np.float64)
        self._open_length = np.zeros(num_envs, dtype=np.int64)

    def finish(
        self,
        reward: FloatArray,
        terminated: BoolArray,
        truncated: BoolArray,
        valid: BoolArray,
    ) -> tuple[EpisodeRecord, ...]:
        """Take the next fragment and return the episodes that ended in it.

        Steps that are not valid count neither in a return nor in a length. Work in Python is
        done for each episode end only.

        Args:
            reward: Shape: (T, B).
            terminated: Shape: (T, B).
            truncated: Shape: (T, B).
            valid: Shape: (T, B).

        Returns:
            In order of their end; ends at the same step in order of the sub-environment.
        """
        counted = np.where(valid, reward, np.float32(0.0)).astype(np.float64)
        first_step = np.zeros(reward.shape[1], dtype=np.int64)
        records = []
        for step, column in np.argwhere((terminated | truncated) & valid):
            steps = slice(first_step[column], step + 1)
            self._open_return[column] += counted[steps, column].sum()
            self._open_length[column] += valid[steps, column].sum()
            records.append(self._close(int(column), bool(terminated[step, column])))
            first_step[column] = step + 1
        still_open = np.arange(reward.shape[0])[:, np.newaxis] >= first_step
        self._open_return += np.where(still_open, counted, 0.0).sum(axis=0)
        self._open_length += (valid & still_open).sum(axis=0)
        return tuple(records)

    def _close(self, column: int, terminated: bool) -> EpisodeRecord:
        record = EpisodeRecord(
            env_id=f"{self._env_id}/{column}",
            episode_return=float(self._open_return[column]),
            length=int(self._open_length[column]),
            terminated=terminated,
        )
        self._open_return[column] = 0.0
        self._open_length[column] = 0
        return record
