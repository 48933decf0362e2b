"""Applying published weights between forwards, never in the middle of one."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from types import TracebackType

from torch import nn

from rlightning.errors import WeightsError
from rlightning.weights.snapshot import WeightsSnapshot
from rlightning.weights.state_fit import copy_state

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
        self._targets = module.state_dict()
        self._version = NO_VERSION
        self._lock = threading.Lock()
        self._forward = _Forward(self._lock, self)

    @property
    def version(self) -> int:
        """Version of the weights in the module, `NO_VERSION` before the first ones."""
        return self._version

    def forward(self) -> AbstractContextManager[int]:
        """Hold the weights still for one forward and give the version that computes it."""
        return self._forward

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
            if snapshot.version > self._version:
                copy_state(snapshot.state, self._targets)
                self._version = snapshot.version
        return snapshot.version


class _Forward(AbstractContextManager[int]):
    """Entered for every forward: a class of its own costs a third of a generator."""

    __slots__ = ("_lock", "_receiver")

    def __init__(self, lock: threading.Lock, receiver: Receiver) -> None:
        self._lock = lock
        self._receiver = receiver

    def __enter__(self) -> int:
        self._lock.acquire()
        return self._receiver.version

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()
