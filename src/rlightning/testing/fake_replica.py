"""Replicas and a learner without a network, whose behaviour a test decides."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from rlightning.runtime.finished_task import FinishedTask
from rlightning.runtime.gathered import gathered
from rlightning.types import ActionBatch, Fragment, ObservationBatch, UpdateReport
from rlightning.weights.snapshot import WeightsSnapshot

HOLD_TIMEOUT_SECONDS = 30.0

Before = Callable[[int], Exception | None]


def shown_observation(env_id: str, num_envs: int = 1, value: float = 0.0) -> FinishedTask:
    """Return the task of an observation that is there already.

    Args:
        env_id: Who shows it.
        num_envs: Rows.
        value: What every row shows.
    """
    observation = np.full((num_envs, 1), value, dtype=np.float32)
    noise = np.zeros((num_envs, 1), dtype=np.float32)
    batch = ObservationBatch(env_id, observation, noise)
    return FinishedTask(env_id, "step", batch, None, 0)


class FakeReplica:
    """Answers every observation with itself plus one, as a whole number.

    Args:
        replica_id: Stamped on every answer.
        service_seconds: How long an answer takes.
        before: Called with the number of each call, from 1; an exception that it returns is
            raised instead of an answer.

    Attributes:
        served: Who asked, in order.
    """

    def __init__(
        self, replica_id: str, service_seconds: float = 0.0, before: Before = lambda number: None
    ) -> None:
        self._replica_id = replica_id
        self._service_seconds = service_seconds
        self._before = before
        self._is_open = threading.Event()
        self._is_open.set()
        self._version = -1
        self.served: list[str] = []

    def hold(self) -> None:
        """Let all calls from now on wait until `release`."""
        self._is_open.clear()

    def release(self) -> None:
        """Let the calls that wait go on."""
        self._is_open.set()

    def act(self, request: ObservationBatch) -> ActionBatch:
        """Answer one request."""
        self.served.append(request.env_id)
        error = self._before(len(self.served))
        if error is not None:
            raise error
        self._is_open.wait(HOLD_TIMEOUT_SECONDS)
        time.sleep(self._service_seconds)
        zeros = np.zeros(len(request.observation), dtype=np.float32)
        action = request.observation[:, 0].astype(np.int64) + 1
        return ActionBatch(request.env_id, action, zeros, zeros, self._version, self._replica_id)

    def set_weights(self, snapshot: WeightsSnapshot) -> int:
        """Take over a version."""
        self._version = snapshot.version
        return self._version

    def policy_version(self) -> int:
        """Return the version taken over last, -1 before the first."""
        return self._version


class GatheringFakeReplica(FakeReplica):
    """Answers all requests that wait together."""

    @gathered(max_batch_calls=64)
    def act(self, requests: list[ObservationBatch]) -> list[ActionBatch]:  # type: ignore[override]
        """Answer requests one after the other."""
        answer = super().act
        return [answer(request) for request in requests]


class FakeLearner:
    """Counts updates and publishes versions without weights.

    Attributes:
        kinds: Kinds of the fragments of each update.
    """

    def __init__(self) -> None:
        self.kinds: list[tuple[str, ...]] = []
        self._versions: dict[str, int] = {}

    def update(self, progress: float, kinds: Sequence[str], *fragments: Fragment) -> UpdateReport:
        """Note what came."""
        self.kinds.append(tuple(kinds))
        return UpdateReport(
            metrics={"progress": progress},
            episodes=tuple(episode for part in fragments for episode in part.episodes),
            num_steps=sum(part.num_valid for part in fragments),
            policy_versions=(),
        )

    def publish(self, kind: str) -> WeightsSnapshot:
        """Return the next version, from 0."""
        self._versions[kind] = self._versions.get(kind, -1) + 1
        return WeightsSnapshot(self._versions[kind], MappingProxyType({}))

    def state_dict(self) -> dict[str, Any]:
        """Return the versions."""
        return dict(self._versions)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over versions."""
        self._versions = dict(state)


def fake_replicas(*service_seconds: float) -> dict[str, FakeReplica]:
    """Return a replica for each service time, by id."""
    names = [f"eval-{number}" for number in range(len(service_seconds))]
    return {
        name: FakeReplica(name, seconds)
        for name, seconds in zip(names, service_seconds, strict=True)
    }
