"""How far a run has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TrainingProgress:
    """Counts iterations, environment steps and seconds; goes on where a checkpoint left it.

    Not thread-safe: only the engine's loop writes it.
    """

    def __init__(self, total_env_steps: int) -> None:
        self.total_env_steps = total_env_steps
        self.iteration = 0
        self.env_steps = 0
        self.seconds = 0.0

    @property
    def share(self) -> float:
        """Share of the run that is done, from 0 to 1."""
        return min(1.0, self.env_steps / self.total_env_steps)

    @property
    def is_complete(self) -> bool:
        """Whether all environment steps have been taken."""
        return self.env_steps >= self.total_env_steps

    def advance(self, num_steps: int, seconds: float) -> None:
        """Count one finished iteration of so many environment steps and seconds."""
        self.iteration += 1
        self.env_steps += num_steps
        self.seconds += seconds

    def state_dict(self) -> dict[str, Any]:
        """Return the counters as plain values."""
        return {
            "iteration": self.iteration,
            "env_steps": self.env_steps,
            "seconds": self.seconds,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from the counters that `state_dict` returned."""
        self.iteration = int(state["iteration"])
        self.env_steps = int(state["env_steps"])
        self.seconds = float(state["seconds"])
