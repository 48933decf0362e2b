"""Starting a Ray of our own, joining one that runs, and leaving either as it was found."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ray

from rlightning.errors import WorkerError
from rlightning.runtime.ray.connection import RayConnection

MIB = 2**20

SECONDS_TO_CONNECT = 5.0

ADVICE_FOR_JOINING = (
    "if it asks for a token, start this program with RAY_AUTH_MODE=token and the token of the "
    "cluster in RAY_AUTH_TOKEN, or in ~/.ray/auth_token"
)
"""Ray itself does not always tell a missing token from a cluster that does not answer."""


@dataclass(frozen=True, slots=True)
class RaySettings:
    """Which Ray to use.

    Attributes:
        address: Of a running cluster to join; None starts one on this machine.
        namespace: Of the names of the actors; None takes a new one for each run.
        num_cpus: CPUs that a started Ray offers; None for those of this machine.
        object_store_bytes: Memory that a started Ray may use for large values.
        start_timeout_seconds: Longest wait for the process of a worker.
        runtime_env: What Ray brings to the processes of the workers.
    """

    address: str | None = None
    namespace: str | None = None
    num_cpus: int | None = None
    object_store_bytes: int = 200 * MIB
    start_timeout_seconds: float = 120.0
    runtime_env: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Present:
    """The Ray to which this process is connected, and how many use it."""

    num_users: int = 0
    connection: RayConnection | None = None


_present = _Present()
_changing = threading.Lock()


class RaySession:
    """One use of Ray by this process, from `enter` to `leave`.

    Several uses at a time share one connection, and the last one to leave ends it. A Ray that
    the program had connected to itself is used and not ended.

    Attributes:
        namespace: Where the actors of this use have their names.
    """

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self.namespace = settings.namespace or f"rlightning-{uuid.uuid4().hex[:12]}"
        self._is_inside = False

    def enter(self) -> None:
        """Connect, unless this process is connected already.

        Raises:
            WorkerError: If the cluster cannot be joined, or none can be started.
        """
        with _changing:
            if not ray.is_initialized():
                _connect(self._settings, self.namespace)
            _present.num_users += 1
            self._is_inside = True

    def leave(self) -> None:
        """End this use; the last one ends the connection. A second call does nothing."""
        with _changing:
            if not self._is_inside:
                return
            self._is_inside = False
            _present.num_users -= 1
            connection = _present.connection
            if not _present.num_users and connection is not None:
                _present.connection = None
                connection.close()


def _connect(settings: RaySettings, namespace: str) -> None:
    if settings.address is not None:
        _check_somebody_listens(settings.address)
    connection = RayConnection(_arguments(settings, namespace), starts_ray=settings.address is None)
    try:
        connection.open()
    except Exception as error:  # Ray raises plain ones too, such as of a late raylet
        raise _not_connected(settings.address, error) from error
    _present.connection = connection


def _check_somebody_listens(address: str) -> None:
    """Try a plain connection first: Ray itself takes minutes to find out that there is none."""
    host, _, port = address.rpartition(":")
    if not host or "://" in address or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise _not_connected(address, error) from error


def _not_connected(address: str | None, error: Exception) -> WorkerError:
    what = (
        "start Ray on this machine" if address is None else f"join the Ray cluster at {address!r}"
    )
    token = f"; {ADVICE_FOR_JOINING}" if address is not None else ""
    return WorkerError(
        f"expected to {what}, got {type(error).__name__}: {error}; look whether it runs and "
        f"has the same versions of Ray and Python, or leave cluster.address out to start one{token}"
    )


def _arguments(settings: RaySettings, namespace: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "namespace": namespace,
        "configure_logging": False,
        "runtime_env": dict(settings.runtime_env) or None,
    }
    if settings.address is not None:
        return {**arguments, "address": settings.address}
    return {
        **arguments,
        "address": "local",
        "num_cpus": settings.num_cpus or os.cpu_count() or 1,
        "object_store_memory": settings.object_store_bytes,
        "include_dashboard": False,
    }
