"""Vectorised environments of every autoreset mode, with one meaning of a step.

After a step, `out` holds what the next action answers to, and the true last observations of
truncated episodes are handed out apart. Where the environment spends a whole step on a reset
(next-step mode), those rows are marked. Modes: https://farama.org/Vector-Autoreset-Mode
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array
from numpy.typing import NDArray

from rlightning.env.observation_adapter import ObservationAdapter
from rlightning.errors import EnvironmentFailedError
from rlightning.types import Array, BoolArray

AnyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]


class StepResult(NamedTuple):
    """What one step of all sub-environments gave, apart from the observations.

    Attributes:
        reward: In the environment's own type. Shape: (B,).
        terminated: Shape: (B,).
        truncated: Shape: (B,).
        reset_rows: True where the step was spent on a reset, so that reward and flags there
            mean nothing; None if nowhere. Shape: (B,).
        final_rows: Sub-environments that were truncated and not terminated; None if none.
            Shape: (N,).
        final_observation: Their true last observations. Shape: (N, *observation_shape).
    """

    reward: Array
    terminated: BoolArray
    truncated: BoolArray
    reset_rows: BoolArray | None = None
    final_rows: NDArray[np.int64] | None = None
    final_observation: Array | None = None


class Simulator(ABC):
    """One vectorised environment whose mode no longer shows."""

    def __init__(self, vector_env: AnyVectorEnv, adapter: ObservationAdapter) -> None:
        self._vector_env = vector_env
        self._adapter = adapter
        self._batch_shape = (vector_env.num_envs,)

    def reset(self, seed: int, out: Array) -> None:
        """Start a new episode everywhere and write what is seen into `out`."""
        observation, _ = self._vector_env.reset(seed=seed)
        self._adapter.write(observation, out)

    @abstractmethod
    def step(self, action: Array, out: Array) -> StepResult:
        """Step all sub-environments and write what the next action answers to into `out`."""

    def _raw_step(
        self, action: Array, out: Array
    ) -> tuple[Array, BoolArray, BoolArray, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self._vector_env.step(action)
        self._adapter.write(observation, out)
        reward = np.asarray(reward)
        terminated = np.asarray(terminated, dtype=np.bool_)
        truncated = np.asarray(truncated, dtype=np.bool_)
        if not reward.shape == terminated.shape == truncated.shape == self._batch_shape:
            raise EnvironmentFailedError(
                f"expected rewards and flags of shape {self._batch_shape}, got reward "
                f"{reward.shape}, terminated {terminated.shape}, truncated {truncated.shape}; "
                "correct what the environment's step returns"
            )
        return reward, terminated, truncated, infos


class NextStepSimulator(Simulator):
    """The step after an episode's end resets; its action is ignored."""

    _ended: BoolArray | None = None

    def reset(self, seed: int, out: Array) -> None:
        """Start a new episode everywhere and write what is seen into `out`."""
        self._ended = None
        super().reset(seed, out)

    def step(self, action: Array, out: Array) -> StepResult:
        """Step all sub-environments; rows that were spent on a reset are marked."""
        reward, terminated, truncated, _ = self._raw_step(action, out)
        reset_rows = self._ended
        ended = terminated | truncated
        if reset_rows is not None:
            ended = ended > reset_rows
        if not np.count_nonzero(ended):
            self._ended = None
            return StepResult(reward, terminated, truncated, reset_rows)
        self._ended = ended
        rows = _bootstrapped_rows(terminated, truncated, reset_rows)
        final = None if rows is None else out[rows]
        return StepResult(reward, terminated, truncated, reset_rows, rows, final)


class SameStepSimulator(Simulator):
    """The step that ends an episode resets too; the last observation comes in the infos."""

    def step(self, action: Array, out: Array) -> StepResult:
        """Step all sub-environments; true last observations are taken from the infos."""
        reward, terminated, truncated, infos = self._raw_step(action, out)
        rows = _bootstrapped_rows(terminated, truncated)
        if rows is None:
            return StepResult(reward, terminated, truncated)
        final = self._final_observations(infos, rows, out)
        return StepResult(reward, terminated, truncated, None, rows, final)

    def _final_observations(
        self, infos: dict[str, Any], rows: NDArray[np.int64], out: Array
    ) -> Array:
        if "final_obs" not in infos:
            raise EnvironmentFailedError(
                "expected the last observations of truncated episodes in infos['final_obs'], "
                f"because the environment's autoreset mode is same-step, got {sorted(infos)}; "
                "correct the environment, or set vectorization to 'sync'"
            )
        space = self._vector_env.single_observation_space
        items = [infos["final_obs"][row] for row in rows]
        batch = concatenate(space, items, cast("Any", create_empty_array(space, n=len(items))))
        final = np.empty((len(items), *out.shape[1:]), dtype=out.dtype)
        self._adapter.write(batch, final)
        return final


class DisabledSimulator(Simulator):
    """The environment never resets by itself: it is told to, within the same step."""

    def step(self, action: Array, out: Array) -> StepResult:
        """Step all sub-environments, then reset those whose episode ended."""
        reward, terminated, truncated, _ = self._raw_step(action, out)
        ended = terminated | truncated
        if not np.count_nonzero(ended):
            return StepResult(reward, terminated, truncated)
        rows = _bootstrapped_rows(terminated, truncated)
        final = None if rows is None else out[rows]
        # The reset may write into arrays that the step handed out.
        result = StepResult(reward.copy(), terminated.copy(), truncated.copy(), None, rows, final)
        self._reset_rows(ended, out)
        return result

    def _reset_rows(self, ended: BoolArray, out: Array) -> None:
        running = out[~ended]
        observation, _ = self._vector_env.reset(options={"reset_mask": ended.copy()})
        self._adapter.write(observation, out)
        if not np.array_equal(out[~ended], running, equal_nan=True):
            raise EnvironmentFailedError(
                "expected a reset of only the sub-environments in options['reset_mask'], got a "
                "reset of others too; correct the environment, or set vectorization to 'sync'"
            )


SIMULATORS: dict[AutoresetMode, type[Simulator]] = {
    AutoresetMode.NEXT_STEP: NextStepSimulator,
    AutoresetMode.SAME_STEP: SameStepSimulator,
    AutoresetMode.DISABLED: DisabledSimulator,
}


def create_simulator(vector_env: AnyVectorEnv, adapter: ObservationAdapter) -> Simulator:
    """Choose the simulator that fits the environment's autoreset mode.

    Raises:
        EnvironmentFailedError: If the environment does not say which mode it has.
    """
    mode = vector_env.metadata.get("autoreset_mode")
    try:
        return SIMULATORS[AutoresetMode(mode)](vector_env, adapter)
    except ValueError as error:
        raise EnvironmentFailedError(
            f"expected metadata['autoreset_mode'] of {type(vector_env.unwrapped).__name__} to be "
            f"one of {[known.value for known in AutoresetMode]}, got {mode!r}; "
            "let the environment say it, or set vectorization to 'sync'"
        ) from error


def _bootstrapped_rows(
    terminated: BoolArray, truncated: BoolArray, reset_rows: BoolArray | None = None
) -> NDArray[np.int64] | None:
    if not np.count_nonzero(truncated):
        return None
    is_bootstrapped = truncated > terminated
    if reset_rows is not None:
        is_bootstrapped = is_bootstrapped > reset_rows
    rows = np.flatnonzero(is_bootstrapped)
    return rows.astype(np.int64, copy=False) if rows.size else None
