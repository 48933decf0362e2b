"""How many requests and bytes stay on their node, and how many travel to another."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rlightning.env.action_noise import noise_size
from rlightning.env.space_kind import SpaceKind
from rlightning.metrics.node_traffic import NodePair, NodeTraffic

_Key: TypeAlias = tuple[str, str | None, str | None]
"""Environment worker, its node, node of the replica."""

UNKNOWN_NODE = "unknown"
_FLOAT_BYTES = np.dtype(np.float32).itemsize
_NUM_FLOATS_OF_ANSWER = 2


@dataclass(frozen=True, slots=True)
class RequestBytes:
    """Sizes of the arrays of one request and of its answer.

    Attributes:
        asked: Bytes of observations and noise.
        answered: Bytes of actions, log-probabilities and values.
    """

    asked: int
    answered: int

    @classmethod
    def of(cls, kind: SpaceKind, num_envs: int) -> RequestBytes:
        """Return the sizes for an environment worker with so many sub-environments."""
        observation, action = kind.observation_space, kind.action_space
        observation_bytes = _num_items(observation.shape) * np.dtype(observation.dtype).itemsize
        action_bytes = _num_items(action.shape) * np.dtype(action.dtype).itemsize
        asked = observation_bytes + noise_size(action) * _FLOAT_BYTES
        answered = action_bytes + _NUM_FLOATS_OF_ANSWER * _FLOAT_BYTES
        return cls(num_envs * asked, num_envs * answered)


class Traffic:
    """Counts requests by the nodes of those who ask and those who are asked.

    Bytes are those of the arrays, known from their shapes; nobody is asked. Every request counts
    where it is sent, so one that is sent again after a failure counts at both replicas.
    Thread-safe.

    Args:
        node_of: Returns the node of an environment worker.
        sizes: Of the requests of each environment worker.
    """

    def __init__(
        self, node_of: Callable[[str], str | None], sizes: Mapping[str, RequestBytes]
    ) -> None:
        self._node_of = node_of
        self._sizes = dict(sizes)
        self._lock = threading.Lock()
        self._requests: dict[_Key, int] = {}
        self._unanswered: Counter[_Key] = Counter()

    def join(self, env_id: str, size: RequestBytes) -> None:
        """Count the requests of one more environment worker from now on."""
        self._sizes = {**self._sizes, env_id: size}

    def sent(self, env_id: str, replica_node: str | None) -> None:
        """Count a request, with the answer that it will have."""
        key = (env_id, self._node_of(env_id), replica_node)
        with self._lock:
            self._requests[key] = self._requests.get(key, 0) + 1

    def not_answered(self, env_id: str, replica_node: str | None) -> None:
        """Hear that a request had an error for an answer."""
        with self._lock:
            self._unanswered[env_id, self._node_of(env_id), replica_node] += 1

    def never_asked(self, env_id: str, replica_node: str | None) -> None:
        """Hear that there were no observations to send, because their worker failed."""
        key = (env_id, self._node_of(env_id), replica_node)
        with self._lock:
            self._requests[key] = self._requests.get(key, 0) - 1

    def take(self) -> dict[NodePair, NodeTraffic]:
        """Return what was counted since the last call, by (node of environment, of replica)."""
        with self._lock:
            requests, self._requests = self._requests, {}
            unanswered, self._unanswered = self._unanswered, Counter()
        counts: dict[NodePair, NodeTraffic] = {}
        for key in {**requests, **unanswered}:
            env_id, env_node, replica_node = key
            number, size = requests.get(key, 0), self._sizes[env_id]
            num_answers = number - unanswered[key]
            own = NodeTraffic(number, number * size.asked + num_answers * size.answered)
            pair = (env_node or UNKNOWN_NODE, replica_node or UNKNOWN_NODE)
            counts[pair] = counts.get(pair, NodeTraffic(0, 0)).plus(own)
        return counts


def _num_items(shape: tuple[int, ...] | None) -> int:
    return int(np.prod(shape or ()))
