"""Environments with recognisable data, and environments with one fault each.

Importable by id: ``rlightning.testing.environments:Counting-v0`` and so on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import SyncVectorEnv

from rlightning.types import Array


class CountingEnv(gymnasium.Env[Array, np.int64]):
    """Shows ``100 * episode + step`` and rewards a step with its number within the episode.

    Episodes and steps are counted from 1 and 0: the first episode shows 100, 101, 102, …; its
    rewards are 1, 2, …

    Args:
        lengths: Steps of the first episode, the second, …; repeated from the start.
        ends: "terminated", "truncated" or "both" for each, in the same way.
        reuse_buffer: Always hand out the same array, as some simulators do.
    """

    observation_space = Box(0.0, 1e9, shape=(1,), dtype=np.float32)
    action_space = Discrete(2)

    def __init__(
        self,
        lengths: Sequence[int] = (3,),
        ends: Sequence[str] = ("terminated",),
        reuse_buffer: bool = False,
    ) -> None:
        self._lengths, self._ends = tuple(lengths), tuple(ends)
        self._shown = np.zeros(1, dtype=np.float32) if reuse_buffer else None
        self._episode = 0
        self._step = 0
        self.num_steps = 0
        self.was_closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start the next episode."""
        super().reset(seed=seed)
        self._episode += 1
        self._step = 0
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Count one step; the action changes nothing."""
        self._step += 1
        self.num_steps += 1
        which = self._episode - 1
        is_over = self._step >= self._lengths[which % len(self._lengths)]
        end = self._ends[which % len(self._ends)] if is_over else ""
        terminated, truncated = end in ("terminated", "both"), end in ("truncated", "both")
        return self._observation(), float(self._step), terminated, truncated, {}

    def close(self) -> None:
        """Remember that it was closed."""
        self.was_closed = True

    def _is_at(self, at_step: int) -> bool:
        if at_step == 0:
            return self._step == 0
        return self._step > 0 and self.num_steps == at_step

    def _observation(self) -> Array:
        number = 100 * self._episode + self._step
        if self._shown is None:
            return np.array([number], dtype=np.float32)
        self._shown[0] = number
        return self._shown


class RaisingEnv(CountingEnv):
    """Raises RuntimeError in its n-th reset, or in its n-th step since it was made.

    Args:
        at_step: Which step raises, from 1; 0 for none.
        at_reset: Which reset raises, from 1; 0 for none.
        kwargs: See `CountingEnv`.
    """

    def __init__(self, at_step: int = 0, at_reset: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._at_step, self._at_reset = at_step, at_reset
        self._num_resets = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start the next episode, or raise."""
        self._num_resets += 1
        if self._num_resets == self._at_reset:
            raise RuntimeError("the simulator crashed in reset")
        return super().reset(seed=seed, options=options)

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Count one step, or raise."""
        result = super().step(action)
        if self.num_steps == self._at_step:
            raise RuntimeError("the simulator crashed in step")
        return result


class NaNEnv(CountingEnv):
    """Shows or rewards a number that is not finite.

    Args:
        at_step: Which step since it was made does it, from 1; 0 for the resets.
        where: "observation" or "reward".
        value: NaN or an infinity.
        kwargs: See `CountingEnv`.
    """

    def __init__(
        self,
        at_step: int = 1,
        where: str = "observation",
        value: float = float("nan"),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._at_step, self._where, self._value = at_step, where, float(value)

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Count one step, with a wrong reward at its time."""
        observation, reward, terminated, truncated, infos = super().step(action)
        if self._where == "reward" and self._is_at(self._at_step):
            reward = self._value
        return observation, reward, terminated, truncated, infos

    def _observation(self) -> Array:
        observation = super()._observation()
        if self._where == "observation" and self._is_at(self._at_step):
            return np.full_like(observation, self._value)
        return observation


class WrongShapeEnv(CountingEnv):
    """Shows an array of another shape than its space promises.

    Args:
        at_step: Which step since it was made does it, from 1; 0 for the resets.
        kwargs: See `CountingEnv`.
    """

    def __init__(self, at_step: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._at_step = at_step

    def _observation(self) -> Array:
        observation = super()._observation()
        return np.tile(observation, 3) if self._is_at(self._at_step) else observation


class HangingEnv(CountingEnv):
    """Does not come back from a step for a long time.

    Args:
        at_step: Which step since it was made hangs, from 1.
        seconds: For how long.
        wait: What waits; tests give their own.
        kwargs: See `CountingEnv`.
    """

    def __init__(
        self,
        at_step: int = 1,
        seconds: float = 3600.0,
        wait: Callable[[float], object] = time.sleep,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._at_step, self._seconds, self._wait = at_step, seconds, wait

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Count one step, or hang."""
        result = super().step(action)
        if self.num_steps == self._at_step:
            self._wait(self._seconds)
        return result


class FiniteEnv(CountingEnv):
    """A source with an end: after some steps it raises StopIteration.

    Args:
        num_available: Steps that it has.
        kwargs: See `CountingEnv`.
    """

    def __init__(self, num_available: int = 10, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._num_available = num_available

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Count one step, or raise StopIteration."""
        if self.num_steps == self._num_available:
            raise StopIteration("the source has no more steps")
        return super().step(action)


def create_counting_vector_env(
    num_envs: int,
    autoreset_mode: str = "NextStep",
    lengths: Sequence[Sequence[int]] = ((3,),),
    ends: Sequence[Sequence[str]] = (("terminated",),),
    reuse_buffer: bool = True,
) -> SyncVectorEnv:
    """Make counting environments as one vectorised environment of a given autoreset mode.

    Args:
        num_envs: Number of sub-environments.
        autoreset_mode: "NextStep", "SameStep" or "Disabled".
        lengths: Episode lengths of sub-environment 0, 1, …; repeated from the start.
        ends: How their episodes end, in the same way.
        reuse_buffer: Always hand out the same array.
    """
    makers = [
        partial(CountingEnv, lengths[i % len(lengths)], ends[i % len(ends)])
        for i in range(num_envs)
    ]
    return SyncVectorEnv(makers, copy=not reuse_buffer, autoreset_mode=autoreset_mode)


def _register_all() -> None:
    for maker in (CountingEnv, RaisingEnv, NaNEnv, WrongShapeEnv, HangingEnv, FiniteEnv):
        name = maker.__name__.removesuffix("Env")
        gymnasium.register(f"{name}-v0", entry_point=f"{__name__}:{maker.__name__}")
    gymnasium.register(
        "CountingVector-v0",
        entry_point=f"{__name__}:CountingEnv",
        vector_entry_point=f"{__name__}:create_counting_vector_env",
    )


_register_all()
