"""CartPole whose every observation says which simulator showed it, after how many of its steps.

Importable by id: ``rlightning.testing.faults.stamped_environment:StampedCartPole-v0``.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from rlightning.testing.faults.orders import obey
from rlightning.types import Array

ENV_ID = f"{__name__}:StampedCartPole-v0"
NUM_CARTPOLE_VALUES = 4
NUM_STAMPS = 2
STEP = b"."
STAMP_UNIT = 1.0 / 4096
"""A power of two, so that 32 bits hold a stamp exactly; small, so that a network can bear it."""


class StampedCartPoleEnv(gymnasium.Env[Array, np.int64]):
    """Shows CartPole's four values, the number of this simulator, and how many steps it has done.

    No two simulators of one folder have one number, whatever their processes. Each writes a byte
    to a file of its own for every step before it answers: what a process did is known also after
    it was killed.

    Args:
        folder: Where the files are.
        num_padding_values: Zeros that are shown too, so that fragments do not fit into a message.
        shows_stamps: If false, zeros stand where the two numbers are: a policy learns better.
    """

    def __init__(
        self, folder: str, num_padding_values: int = 0, *, shows_stamps: bool = True
    ) -> None:
        self._cartpole: Any = CartPoleEnv()
        self.action_space = Discrete(2)
        num_values = NUM_CARTPOLE_VALUES + NUM_STAMPS + num_padding_values
        self.observation_space = Box(-np.inf, np.inf, (num_values,), np.float32)
        self._shown = np.zeros(num_values, np.float32)
        self._unit = STAMP_UNIT if shows_stamps else 0.0
        self._folder = Path(folder)
        self._number, self._log = _claim_number(self._folder)
        self._num_steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start the next episode."""
        seen, infos = self._cartpole.reset(seed=seed, options=options)
        return self._stamped(seen), infos

    def step(self, action: np.int64) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and say so; a fault may have ordered something else."""
        obey(self._folder)
        seen, reward, terminated, truncated, infos = self._cartpole.step(int(action))
        self._num_steps += 1
        os.write(self._log, STEP)
        return self._stamped(seen), reward, terminated, truncated, infos

    def close(self) -> None:
        """Close the file."""
        if self._log >= 0:
            os.close(self._log)
            self._log = -1

    def _stamped(self, seen: Array) -> Array:
        shown = self._shown.copy()
        shown[:NUM_CARTPOLE_VALUES] = seen
        shown[NUM_CARTPOLE_VALUES] = self._number * self._unit
        shown[NUM_CARTPOLE_VALUES + 1] = self._num_steps * self._unit
        return shown


def _claim_number(folder: Path) -> tuple[int, int]:
    """Return the first number that nobody has, and the file that belongs to it."""
    for number in itertools.count():
        try:
            log = os.open(folder / f"{number}.steps", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            continue
        os.write(log, f"{os.getpid()}\n".encode())
        return number, log
    raise RuntimeError("numbers have no end")


def stamps(observation: Array) -> NDArray[np.int64]:
    """Return the number of the simulator and of its steps. Shape: (..., values) to (..., 2)."""
    shown = observation[..., NUM_CARTPOLE_VALUES : NUM_CARTPOLE_VALUES + NUM_STAMPS]
    return np.rint(shown / STAMP_UNIT).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SimulatorLog:
    """What one simulator did.

    Attributes:
        number: Of the simulator.
        process_id: Where it lived.
        num_steps: Steps.
    """

    number: int
    process_id: int
    num_steps: int


def read_logs(folder: Path) -> Iterator[SimulatorLog]:
    """Yield what each simulator of a folder did."""
    for path in folder.glob("*.steps"):
        process_id, _, done = path.read_bytes().partition(b"\n")
        yield SimulatorLog(int(path.stem), int(process_id), done.count(STEP))


gymnasium.register("StampedCartPole-v0", f"{__name__}:StampedCartPoleEnv", max_episode_steps=500)
