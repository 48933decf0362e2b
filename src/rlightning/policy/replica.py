"""A running copy of the policy that answers environment workers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from rlightning.env.finite import is_finite
from rlightning.errors import NotFiniteError
from rlightning.policy.base import Policy
from rlightning.policy.device import resolve_device
from rlightning.policy.request_rules import RequestRules
from rlightning.runtime.gathered import gathered
from rlightning.types import ActionBatch, Array, ObservationBatch
from rlightning.weights.receiver import Receiver
from rlightning.weights.snapshot import WeightsSnapshot

MAX_BATCH_CALLS = 256
"""Most requests that one forward answers together."""


class PolicyReplica:
    """Answers observations with actions, under the newest weights it was given.

    Args:
        policy_factory: Makes the policy; called once.
        replica_id: Name that is stamped on every answer, such as ``eval-1``.
        device: Where the policy lives: auto, cpu, cuda or cuda:<index>.
        deterministic: Answer the most likely actions, for evaluations.

    Raises:
        ConfigError: If the machine has no such device.
    """

    def __init__(
        self,
        policy_factory: Callable[[], Policy],
        replica_id: str,
        device: str = "auto",
        *,
        deterministic: bool = False,
    ) -> None:
        self._replica_id = replica_id
        self._device = resolve_device(device)
        self._policy = policy_factory().to(self._device).eval()
        self._deterministic = deterministic
        self._rules = RequestRules(self._policy.kind)
        self._receiver = Receiver(self._policy)

    @gathered(max_batch_calls=MAX_BATCH_CALLS)
    def act(self, requests: list[ObservationBatch]) -> list[ActionBatch | Exception]:
        """Answer requests with one forward over all of them.

        Returns:
            One entry per request, in order: the answer, or the error of that request alone
            (`ShapeError`, `NotFiniteError`).

        Raises:
            NotFiniteError: If the policy answers NaN or infinity.
        """
        faults = [self._rules.fault_of(request) for request in requests]
        accepted = [request for request, fault in zip(requests, faults, strict=True) if not fault]
        answers = iter(self._answers(accepted) if accepted else ())
        return [fault or next(answers) for fault in faults]

    def set_weights(self, snapshot: WeightsSnapshot) -> int:
        """Apply published weights before the next forward; return their version.

        Raises:
            WeightsError: If they do not fit or are older than those in use.
        """
        return self._receiver.apply(snapshot)

    def policy_version(self) -> int:
        """Return the version of the weights in use, -1 before the first."""
        return self._receiver.version

    def _answers(self, requests: list[ObservationBatch]) -> list[ActionBatch]:
        observation = _joined([request.observation for request in requests])
        noise = _joined([request.noise for request in requests])
        with torch.inference_mode(), self._receiver.forward() as version:
            output = self._policy.act(
                torch.from_numpy(observation).to(self._device),
                torch.from_numpy(noise).to(self._device),
                self._deterministic,
            )
            action, log_prob, value = (tensor.cpu().numpy() for tensor in output)
        if not (is_finite(log_prob) and is_finite(value)):  # no finite log_prob of a NaN action
            raise NotFiniteError(
                f"expected finite answers of policy version {version}, got NaN or infinity from "
                f"{self._replica_id}; lower algorithm.learning_rate or scale the observations"
            )
        answers, start = [], 0
        for request in requests:
            rows = slice(start, start + len(request.observation))
            columns = (action[rows], log_prob[rows], value[rows])
            answers.append(ActionBatch(request.env_id, *columns, version, self._replica_id))
            start = rows.stop
        return answers


def _joined(arrays: list[Array]) -> Array:
    """Return all rows in one array that torch may share."""
    if len(arrays) == 1 and arrays[0].flags.writeable:
        return np.ascontiguousarray(arrays[0])
    return np.concatenate(arrays)
