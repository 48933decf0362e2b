"""Returns and lengths of episodes, also of those that span several fragments."""

from __future__ import annotations

import numpy as np

from rlightning.types import Array, BoolArray, EpisodeRecord


class EpisodeTracker:
    """Follows the episodes of one environment worker from fragment to fragment."""

    def __init__(self, env_id: str, num_envs: int) -> None:
        self._sub_ids = [f"{env_id}/{index}" for index in range(num_envs)]
        self._open_return = np.zeros(num_envs, dtype=np.float64)
        self._open_length = np.zeros(num_envs, dtype=np.int64)

    def finish(
        self,
        reward: Array,
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
        num_steps = reward.shape[0]
        ended = ((terminated | truncated) & valid).T.reshape(-1)
        starts = _piece_starts(ended, num_steps)
        counted = np.where(valid, reward, 0.0).astype(np.float64)
        returns = np.add.reduceat(counted.T.reshape(-1), starts)
        lengths = np.add.reduceat(valid.T.reshape(-1).astype(np.int64), starts)
        is_first = starts % num_steps == 0
        returns[is_first] += self._open_return
        lengths[is_first] += self._open_length

        last = np.append(starts[1:], ended.size) - 1
        is_closed = ended[last]
        self._keep_open(returns, lengths, last % num_steps == num_steps - 1, is_closed)
        return self._records(
            returns[is_closed], lengths[is_closed], last[is_closed], terminated.T.reshape(-1)
        )

    def _keep_open(
        self, returns: Array, lengths: Array, is_last: BoolArray, is_closed: BoolArray
    ) -> None:
        stays = ~is_closed[is_last]
        self._open_return = np.where(stays, returns[is_last], 0.0)
        self._open_length = np.where(stays, lengths[is_last], 0)

    def _records(
        self, returns: Array, lengths: Array, last: Array, terminated: BoolArray
    ) -> tuple[EpisodeRecord, ...]:
        columns, steps = np.divmod(last, terminated.size // len(self._sub_ids))
        order = np.lexsort((columns, steps))
        fields = (columns, returns, lengths, terminated[last])
        return tuple(
            EpisodeRecord(self._sub_ids[column], episode_return, length, is_terminated)
            for column, episode_return, length, is_terminated in zip(
                *(field[order].tolist() for field in fields), strict=True
            )
        )


def _piece_starts(ended: BoolArray, num_steps: int) -> Array:
    """Return where each piece of an episode begins, columns one after the other."""
    is_start = np.zeros(ended.size, dtype=np.bool_)
    is_start[1:] = ended[:-1]
    is_start[::num_steps] = True
    return np.flatnonzero(is_start)
