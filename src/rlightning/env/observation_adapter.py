"""Observations of any supported space as one array for each batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple

from rlightning.errors import ShapeError, SpaceError
from rlightning.types import Array

SUPPORTED = "Box, Discrete, MultiDiscrete, MultiBinary, and Dict or Tuple of these"
MAX_SHOWN = 60
"""Characters of a space in a message."""

LeafSpace: TypeAlias = Box | Discrete | MultiDiscrete | MultiBinary


class ObservationAdapter(ABC):
    """Writes what a vectorised environment shows into an array of the adapted space.

    Attributes:
        space: The adapted space of one observation: a `Box` of float32 or uint8.
    """

    space: Box

    @abstractmethod
    def write(self, observation: Any, out: Array) -> None:
        """Copy a batch of observations into `out`.

        Args:
            observation: A batch as the vectorised environment gives it.
            out: Shape: (B, *space.shape).

        Raises:
            ShapeError: If the shape is not the one that the space promises.
            SpaceError: If a discrete part is out of its range.
        """


def create_observation_adapter(space: Space[Any], *, flatten: bool) -> ObservationAdapter:
    """Choose how observations of a space become arrays.

    A `Box` with at least one axis keeps its shape. Everything else becomes one vector in
    the order of `gymnasium.spaces.flatten`, discrete parts as one-hot vectors.

    Raises:
        SpaceError: If the space is not supported, or would have to be flattened and must not.
    """
    if isinstance(space, Box) and space.shape:
        return DirectObservation(space)
    leaves = _leaves_of(space, ())
    if not flatten:
        raise SpaceError(
            f"expected a Box observation space, because flatten_observation is false, "
            f"got {space}; set flatten_observation to true, or put a wrapper around it"
        )
    return FlatObservation(leaves)


class DirectObservation(ObservationAdapter):
    """Keeps the shape; uint8 stays uint8, every other type becomes float32."""

    def __init__(self, space: Box) -> None:
        self.space = space if space.dtype == np.uint8 else _as_float32(space)

    def write(self, observation: Any, out: Array) -> None:
        """Copy a batch of observations into `out`; see `ObservationAdapter.write`."""
        values = np.asarray(observation)
        if values.shape != out.shape:
            raise _wrong_shape(out.shape, values.shape)
        _copy_cast(values, out)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a composite observation and the columns that it fills."""

    keys: tuple[Any, ...]
    space: LeafSpace
    start: int
    stop: int


class FlatObservation(ObservationAdapter):
    """Writes every part of a composite observation into its columns, as float32."""

    def __init__(self, parts: list[tuple[tuple[Any, ...], LeafSpace]]) -> None:
        flat_spaces = [_flat_space(space) for _, space in parts]
        stops = np.cumsum([flat.shape[0] for flat in flat_spaces])
        self._leaves = [
            Leaf(keys, space, int(stop) - flat.shape[0], int(stop))
            for (keys, space), flat, stop in zip(parts, flat_spaces, stops, strict=True)
        ]
        low = np.concatenate([flat.low for flat in flat_spaces])
        high = np.concatenate([flat.high for flat in flat_spaces])
        self.space = Box(low, high, dtype=np.float32)

    def write(self, observation: Any, out: Array) -> None:
        """Copy a batch of observations into `out`; see `ObservationAdapter.write`."""
        for leaf in self._leaves:
            part = observation
            for key in leaf.keys:
                part = part[key]
            _write_leaf(leaf, np.asarray(part), out[:, leaf.start : leaf.stop])


def _write_leaf(leaf: Leaf, values: Array, out: Array) -> None:
    expected = (out.shape[0], *(leaf.space.shape or ()))
    if values.shape != expected:
        raise _wrong_shape(expected, values.shape, leaf.keys)
    rows = values.reshape(out.shape[0], -1)
    if isinstance(leaf.space, Box | MultiBinary):
        _copy_cast(rows, out)
    else:
        _write_one_hot(leaf, rows, out)


def _write_one_hot(leaf: Leaf, rows: Array, out: Array) -> None:
    sizes, starts = _sizes_and_starts(leaf.space)
    digits = rows.astype(np.int64) - starts
    if (digits < 0).any() or (digits >= sizes).any():
        raise SpaceError(
            f"expected an observation within {leaf.space}, got {rows.tolist()}; "
            "correct the environment's space or what it returns"
        )
    offsets = np.cumsum(sizes) - sizes
    out[:] = 0.0
    np.put_along_axis(out, digits + offsets, 1.0, axis=1)


def _sizes_and_starts(space: Any) -> tuple[Array, Array]:
    if isinstance(space, Discrete):
        return np.array([space.n], dtype=np.int64), np.array([space.start], dtype=np.int64)
    return space.nvec.reshape(-1).astype(np.int64), space.start.reshape(-1).astype(np.int64)


def _leaves_of(space: Any, keys: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], LeafSpace]]:
    children: list[tuple[Any, Space[Any]]]
    if isinstance(space, Dict):
        children = list(space.spaces.items())
    elif isinstance(space, Tuple):
        children = list(enumerate(space.spaces))
    elif isinstance(space, Box | Discrete | MultiDiscrete | MultiBinary):
        return [(keys, space)]
    else:
        children = []
    if not children:
        where = f" at {'.'.join(map(str, keys))!r}" if keys else ""
        raise SpaceError(
            f"expected an observation space of {SUPPORTED}, got {_shortened(space)}{where}; "
            "put a wrapper around the environment that gives one of these"
        )
    return [leaf for key, child in children for leaf in _leaves_of(child, (*keys, key))]


def _shortened(space: Space[Any]) -> str:
    text = str(space)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _flat_space(space: LeafSpace) -> Box:
    if isinstance(space, Box):
        flat = _as_float32(space)
        return Box(flat.low.reshape(-1), flat.high.reshape(-1), dtype=np.float32)
    if isinstance(space, MultiBinary):
        size = int(np.prod(space.shape))
    else:
        size = int(_sizes_and_starts(space)[0].sum())
    return Box(0.0, 1.0, shape=(size,), dtype=np.float32)


def _as_float32(space: Box) -> Box:
    with np.errstate(over="ignore"):
        low, high = space.low.astype(np.float32), space.high.astype(np.float32)
    return Box(low, high, dtype=np.float32)


def _copy_cast(values: Array, out: Array) -> None:
    if values.dtype == out.dtype:
        out[...] = values
        return
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused as such
        out[...] = values


def _wrong_shape(
    expected: tuple[int, ...], got: tuple[int, ...], keys: tuple[Any, ...] = ()
) -> ShapeError:
    part = f" at {'.'.join(map(str, keys))!r}" if keys else ""
    return ShapeError(
        f"expected a batch of observations of shape {expected}{part}, got {got}; "
        "correct the environment's observation space or what it returns"
    )
