"""Advantages of fragments: from what workers sent to what the losses need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rlightning.algorithm.returns import DoubleArray, StepSequence, gae_advantages
from rlightning.policy.base import Policy
from rlightning.types import Array, FloatArray, Fragment


@dataclass(frozen=True, slots=True)
class BootstrapValues:
    """Estimated returns from the observations after the last step of episodes and fragments.

    Attributes:
        final: From the true last observation of truncated episodes, 0 elsewhere. Shape: (T, B).
        last: From what is seen after the last step. Shape: (B,).
    """

    final: FloatArray
    last: FloatArray


def bootstrap_values(policy: Policy, fragments: Sequence[Fragment]) -> list[BootstrapValues]:
    """Ask the policy that collected the fragments, with one forward for all of them."""
    parts = [part for fragment in fragments for part in _observations_after(fragment)]
    with torch.inference_mode():
        observation = torch.from_numpy(np.concatenate(parts)).to(policy.device)
        values = policy.value(observation).cpu().numpy()
    stops = np.cumsum([len(part) for part in parts])[:-1]
    pieces = iter(np.split(values, stops))
    return [_placed(fragment, next(pieces), next(pieces)) for fragment in fragments]


def advantages_of(
    fragment: Fragment,
    reward: Array,
    bootstrap: BootstrapValues,
    discount: float,
    gae_lambda: float,
) -> DoubleArray:
    """Return the generalised advantage estimates of a fragment. Shape: (T, B).

    Args:
        fragment: What happened.
        reward: Of the fragment, perhaps scaled. Shape: (T, B).
        bootstrap: Values that stand for what is not in the fragment.
        discount: Weight of a reward one step later.
        gae_lambda: Weight of a temporal difference one step later.
    """
    steps = StepSequence(
        reward=reward,
        value=fragment.value,
        terminated=fragment.terminated,
        truncated=fragment.truncated,
        valid=fragment.valid,
        final_value=bootstrap.final,
        last_value=bootstrap.last,
    )
    return gae_advantages(steps, discount, gae_lambda)


def _observations_after(fragment: Fragment) -> tuple[Array, Array]:
    return fragment.final_observation, fragment.last_observation


def _placed(fragment: Fragment, final: Array, last: Array) -> BootstrapValues:
    final_value = np.zeros(fragment.reward.shape, dtype=np.float32)
    final_value[fragment.final_index[:, 0], fragment.final_index[:, 1]] = final
    return BootstrapValues(final_value, last)
