"""Estimates of returns and advantages: arrays in, arrays out, nothing else.

Everything is computed in float64, so that the order of the environments changes no result.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from rlightning.errors import ShapeError
from rlightning.types import Array

DoubleArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StepSequence:
    """What happened in `T` consecutive steps of `B` sub-environments.

    An episode may end in two ways. `terminated`: nothing follows, so nothing is estimated.
    `truncated`: it was cut off, and `final_value` stands for what would have followed. Where
    both are set, `terminated` counts. Rows that are not `valid` were spent on a reset.

    Attributes:
        reward: Of each step. Shape: (T, B).
        value: Estimated return before each step. Shape: (T, B).
        terminated: The environment ended the episode with this step. Shape: (T, B).
        truncated: The episode was cut off after this step. Shape: (T, B).
        valid: False where no step was made. Shape: (T, B).
        final_value: Estimated return from the true last observation; read only where
            truncated and not terminated. Shape: (T, B).
        last_value: Estimated return from what is seen after the last step. Shape: (B,).

    Raises:
        ShapeError: If the shapes do not agree.
    """

    reward: Array
    value: Array
    terminated: Array
    truncated: Array
    valid: Array
    final_value: Array
    last_value: Array

    def __post_init__(self) -> None:
        if self.reward.ndim != 2:
            raise ShapeError(f"expected rewards of shape (T, B), got {self.reward.shape}")
        for field in fields(self):
            expected = self.reward.shape[1:] if field.name == "last_value" else self.reward.shape
            shape = getattr(self, field.name).shape
            if shape != expected:
                raise ShapeError(
                    f"expected {field.name} of shape {expected}, as the rewards ask for, "
                    f"got {shape}"
                )

    def next_value(self) -> DoubleArray:
        """Return the estimated return after each step. Shape: (T, B).

        That is 0 after a termination, `final_value` after a truncation, and the value of the
        next row otherwise.
        """
        following = np.concatenate([self.value[1:], self.last_value[np.newaxis]], dtype=np.float64)
        following = np.where(self.truncated, self.final_value, following)
        return np.where(self.terminated, 0.0, following)

    def continues(self) -> NDArray[np.bool_]:
        """Return where the next row belongs to the same episode. Shape: (T, B).

        False at every end of an episode, in rows that are not valid, and before such a row.
        """
        is_followed = np.ones(self.valid.shape, dtype=np.bool_)
        is_followed[:-1] = self.valid[1:]
        ended = np.logical_or(self.terminated, self.truncated)
        return self.valid & is_followed & ~ended


def gae_advantages(steps: StepSequence, discount: float, gae_lambda: float) -> DoubleArray:
    """Return generalised advantage estimates, 0 in rows that are not valid. Shape: (T, B).

    With ``delta[t] = reward[t] + discount * next_value[t] - value[t]`` the estimate is
    ``delta[t] + discount * gae_lambda * advantage[t + 1]``, the last term only where the
    next row belongs to the same episode.

    Source: Schulman et al. 2016, equations 11 and 16. Cost: O(T * B).
    """
    delta = steps.reward + discount * steps.next_value() - steps.value
    delta = np.where(steps.valid, delta, 0.0)
    decay = np.where(steps.continues(), discount * gae_lambda, 0.0)
    return _accumulated_backwards(delta, decay, np.zeros(delta.shape[1]))


def discounted_returns(steps: StepSequence, discount: float) -> DoubleArray:
    """Return the discounted sum of rewards to the end of each episode. Shape: (T, B).

    Where an episode does not end, or was truncated, the estimated value stands for the rest.
    Rows that are not valid have 0. Equals ``gae_advantages(..., gae_lambda=1) + value``.
    """
    continues = steps.continues()
    rest = np.where(continues, 0.0, discount * steps.next_value())
    gain = np.where(steps.valid, steps.reward + rest, 0.0)
    decay = np.where(continues, discount, 0.0)
    return _accumulated_backwards(gain, decay, steps.last_value.astype(np.float64))


def running_returns(
    reward: Array, ended: Array, valid: Array, discount: float, start: Array
) -> tuple[DoubleArray, DoubleArray]:
    """Return the discounted sum of past rewards of each episode, step by step.

    ``running[t] = discount * running[t - 1] + reward[t]``, from 0 after every end. A row that
    is not valid leaves the sum as it was.

    Args:
        reward: Shape: (T, B).
        ended: The episode ended with this step. Shape: (T, B).
        valid: Shape: (T, B).
        discount: Weight of the past, per step.
        start: The sums before the first step. Shape: (B,).

    Returns:
        The sums after each step, shape (T, B), and those to start the next steps with, shape (B,).

    Source: Engstrom et al. 2020, algorithm 1.
    """
    running = np.empty(reward.shape, dtype=np.float64)
    current = start.astype(np.float64)
    for step, step_reward in enumerate(reward):
        current = np.where(valid[step], discount * current + step_reward, current)
        running[step] = current
        current = np.where(ended[step], 0.0, current)
    return running, current


def _accumulated_backwards(gain: DoubleArray, decay: DoubleArray, last: DoubleArray) -> DoubleArray:
    """Return ``total[t] = gain[t] + decay[t] * total[t + 1]``, with `last` after the end."""
    total = np.empty_like(gain)
    following = last
    for step in range(len(gain) - 1, -1, -1):
        following = gain[step] + decay[step] * following
        total[step] = following
    return total
