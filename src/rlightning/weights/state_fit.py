"""Copying a state into a module, all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from rlightning.errors import WeightsError
from rlightning.registry import did_you_mean


def copy_state(state: Mapping[str, Tensor], targets: Mapping[str, Tensor]) -> None:
    """Copy every tensor of a state over the target of its name.

    Args:
        state: Parameters and buffers by name.
        targets: What is overwritten, such as a module's `state_dict()`.

    Raises:
        WeightsError: If names, shapes or types differ; then nothing was copied.
    """
    _check_names(state, targets)
    for name, target in targets.items():
        _check_tensor(name, state[name], target)
    with torch.no_grad():
        for name, target in targets.items():
            target.copy_(state[name])


def _check_names(state: Mapping[str, Tensor], targets: Mapping[str, Tensor]) -> None:
    for name in state:
        if name not in targets:
            hint = did_you_mean(name, targets)
            raise WeightsError(
                f"expected weights of this network, got {name!r}{hint}; "
                "use those of a policy of the same configuration"
            )
    for name in targets:
        if name not in state:
            raise WeightsError(
                f"expected weights {name!r}, got none; "
                "use those of a policy of the same configuration"
            )


def _check_tensor(name: str, tensor: Tensor, target: Tensor) -> None:
    if target.shape != tensor.shape or target.dtype != tensor.dtype:
        raise WeightsError(
            f"expected weights {name!r} of shape {tuple(target.shape)} and type {target.dtype}, "
            f"got {tuple(tensor.shape)} and {tensor.dtype}; "
            "use those of a policy of the same configuration"
        )
