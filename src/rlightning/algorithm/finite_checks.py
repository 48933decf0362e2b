"""Stopping at the first NaN, with the name of the quantity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from rlightning.env.finite import is_finite
from rlightning.errors import NotFiniteError
from rlightning.types import Array, Fragment

_ADVICE = {
    "observation": "repair the environment or wrap it so that observations stay finite",
    "reward": "repair the environment or wrap it so that rewards stay finite",
    "value": "lower algorithm.learning_rate or set algorithm.normalize_rewards=true",
    "advantage": "set algorithm.normalize_rewards=true or scale the rewards",
    "policy_loss": "lower algorithm.learning_rate or algorithm.clip_range",
    "value_loss": "lower algorithm.learning_rate or set algorithm.normalize_rewards=true",
    "entropy": "lower algorithm.learning_rate or algorithm.entropy_coefficient",
    "gradient": "lower algorithm.learning_rate or set algorithm.max_gradient_norm=0.5",
    "weights": "lower algorithm.learning_rate",
}


def not_finite(quantity: str, place: str) -> NotFiniteError:
    """Return the error for a quantity that became NaN or infinite at a place."""
    return NotFiniteError(
        f"expected finite numbers, got NaN or infinity in the {quantity} {place}; "
        f"training stops here, {_ADVICE[quantity]}"
    )


def check_fragments(fragments: Sequence[Fragment]) -> None:
    """Refuse fragments with a number that is not finite in a valid row.

    Raises:
        NotFiniteError: Names observation, reward or value, and the environment worker.
    """
    for fragment in fragments:
        place = f"of {fragment.env_id}"
        _check_rows("observation", fragment.observation, fragment.valid, place)
        _check("observation", fragment.last_observation, place)
        _check("observation", fragment.final_observation, place)
        _check_rows("reward", fragment.reward, fragment.valid, place)
        _check_rows("value", fragment.value, fragment.valid, place)


def check_arrays(quantity: str, fragments: Sequence[Fragment], arrays: Iterable[Array]) -> None:
    """Refuse arrays, one per fragment, that are not finite or too large for float32.

    Raises:
        NotFiniteError: Names the quantity and the environment worker.
    """
    for fragment, array in zip(fragments, arrays, strict=True):
        _check(quantity, array, f"of {fragment.env_id}")


def check_weights(weights: Tensor) -> None:
    """Refuse weights that are not finite.

    Raises:
        NotFiniteError: If a weight is NaN or infinite.
    """
    if not bool(torch.isfinite(weights).all()):
        raise not_finite("weights", "after the update")


def _check_rows(quantity: str, values: Array, valid: Array, place: str) -> None:
    if not is_finite(values):
        _check(quantity, values[valid], place)


def _check(quantity: str, values: Array, place: str) -> None:
    if not is_finite(values):
        raise not_finite(quantity, place)
