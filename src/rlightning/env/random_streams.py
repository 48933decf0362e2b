"""The random numbers of an environment worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class RandomStreams:
    """Two generators of one environment worker, which depend on nothing but these numbers.

    Args:
        seed: Of the run.
        worker_index: Of the worker.
        incarnation: 1 for the first worker of this index. A restarted one draws other numbers,
            so that it does not play again what its predecessor has played.

    Attributes:
        seeds: Draws the seeds of the environment's resets.
        noise: Draws the noise that turns distributions into actions.
    """

    def __init__(self, seed: int, worker_index: int, incarnation: int = 1) -> None:
        first = (seed, worker_index)
        entropy = first if incarnation == 1 else (*first, incarnation)
        streams = np.random.SeedSequence(entropy).spawn(2)
        self.seeds, self.noise = map(np.random.default_rng, streams)

    def state(self) -> dict[str, Any]:
        """Return the states of the generators: plain dicts of numbers and texts."""
        return {
            "seeds": dict(self.seeds.bit_generator.state),
            "noise": dict(self.noise.bit_generator.state),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned.

        Raises:
            KeyError, TypeError, ValueError: If it is something else.
        """
        self.seeds.bit_generator.state = state["seeds"]
        self.noise.bit_generator.state = state["noise"]
