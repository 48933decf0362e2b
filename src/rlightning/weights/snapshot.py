"""One published state of the weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class WeightsSnapshot:
    """Weights and statistics as they were when they were published.

    The tensors live on the CPU and share no memory with the module they came from, so they may
    be sent, kept and applied while training goes on. Nobody writes into them: where processes of
    one machine share memory, all that receive a snapshot see one and the same copy.

    Attributes:
        version: Counts published weights.
        state: Parameters and buffers by name.
    """

    version: int
    state: Mapping[str, Tensor]

    def __reduce__(self) -> tuple[Any, ...]:
        """Go as arrays, which are not copied into the pickle if its buffers travel beside it."""
        arrays = {name: _as_array(tensor) for name, tensor in self.state.items()}
        return _from_arrays, (self.version, arrays)


def _from_arrays(version: int, arrays: Mapping[str, Any]) -> WeightsSnapshot:
    state = {name: _as_tensor(array) for name, array in arrays.items()}
    return WeightsSnapshot(version, MappingProxyType(state))


def _as_array(tensor: Tensor) -> Any:
    """Return a view as an array; of a type that numpy lacks, the tensor itself."""
    try:
        return tensor.numpy()
    except TypeError:
        return tensor


def _as_tensor(array: Any) -> Tensor:
    """Return a view, also of memory that may only be read; nobody writes into it."""
    if isinstance(array, Tensor):
        return array
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.from_numpy(array)
