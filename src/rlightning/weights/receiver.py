"""Applying published weights between forwards, never in the middle of one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from rlightning.errors import WeightsError
from rlightning.registry import did_you_mean
from rlightning.weights.snapshot import WeightsSnapshot

NO_VERSION = -1
"""Version of a module that has not received any published weights."""


class Receiver:
    """Keeps one module at the newest weights that were given to it.

    Thread-safe: `apply` waits for a forward that is running, and the next forward uses what was
    applied. A snapshot that does not fit changes nothing.

    Args:
        module: The module that gets the weights.
    """

    def __init__(self, module: nn.Module) -> None:
        self._targets = module.state_dict(keep_vars=False)
        self._version = NO_VERSION
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Version of the weights in the module, `NO_VERSION` before the first ones."""
        return self._version

    @contextmanager
    def forward(self) -> Iterator[int]:
        """Hold the weights still for one forward and give the version that computes it."""
        with self._lock:
            yield self._version

    def apply(self, snapshot: WeightsSnapshot) -> int:
        """Copy the snapshot into the module, all of it or nothing.

        The version that the module already has is accepted, and changes nothing.

        Returns:
            The version that the module has now.

        Raises:
            WeightsError: If the snapshot is older than what the module has, or its names,
                shapes or types differ from the module's.
        """
        with self._lock:
            if snapshot.version < self._version:
                raise WeightsError(
                    f"expected weights of version {self._version} or newer, got version "
                    f"{snapshot.version}; versions never go backwards, start a new replica instead"
                )
            _check_fits(self._targets, snapshot.state)
            if snapshot.version > self._version:
                _copy(self._targets, snapshot.state)
                self._version = snapshot.version
        return snapshot.version


def _check_fits(targets: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    for name in state:
        if name not in targets:
            hint = did_you_mean(name, targets)
            raise WeightsError(
                f"weights {name!r} are not known to this network{hint}; "
                "publish from a policy of the same configuration"
            )
    for name, target in targets.items():
        if name not in state:
            raise WeightsError(
                f"expected weights {name!r}, got none; "
                "publish from a policy of the same configuration"
            )
        _check_tensor_fits(name, target, state[name])


def _check_tensor_fits(name: str, target: Tensor, tensor: Tensor) -> None:
    if target.shape != tensor.shape or target.dtype != tensor.dtype:
        raise WeightsError(
            f"expected weights {name!r} of shape {tuple(target.shape)} and type {target.dtype}, "
            f"got {tuple(tensor.shape)} and {tensor.dtype}; "
            "publish from a policy of the same configuration"
        )


def _copy(targets: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, target in targets.items():
            target.copy_(state[name])
