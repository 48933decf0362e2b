"""A running copy of the policy that answers environment workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import torch

from rlightning.env.finite import is_finite
from rlightning.errors import NotFiniteError
from rlightning.policy.answered import AnsweredRequests
from rlightning.policy.base import ActionOutput, Policy
from rlightning.policy.device import resolve_device
from rlightning.policy.request_rules import RequestRules
from rlightning.runtime.gathered import gathered
from rlightning.runtime.place import own_node_id
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
        self._is_on_cpu = self._device.type == "cpu"
        self._policy = policy_factory().to(self._device).eval()
        self._deterministic = deterministic
        self._rules = RequestRules(self._policy.kind)
        self._receiver = Receiver(self._policy)
        self._version_seen_finite: int | None = None
        self._answered: Counter[str] = Counter()

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
        if not any(faults):
            answers_of_all = self._answers(requests)
            self._answered.update([request.env_id for request in requests])
            return answers_of_all
        accepted = [request for request, fault in zip(requests, faults, strict=True) if not fault]
        answers = iter(self._answers(accepted) if accepted else ())
        self._answered.update([request.env_id for request in accepted])
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

    def answered(self) -> AnsweredRequests:
        """Return where this replica lives and how many requests of whom it has answered."""
        return AnsweredRequests(own_node_id(), dict(self._answered))

    def _answers(self, requests: list[ObservationBatch]) -> list[ActionBatch | Exception]:
        if len(requests) == 1:
            return [self._answer(requests[0])]
        together = self._answer(
            ObservationBatch(
                env_id=f"{len(requests)} environment workers",
                observation=np.concatenate([request.observation for request in requests]),
                noise=np.concatenate([request.noise for request in requests]),
            )
        )
        answers: list[ActionBatch | Exception] = []
        start = 0
        for request in requests:
            rows = slice(start, start + len(request.observation))
            answers.append(_part(together, request.env_id, rows))
            start = rows.stop
        return answers

    def _answer(self, request: ObservationBatch) -> ActionBatch:
        observation = torch.from_numpy(_that_torch_may_share(request.observation))
        noise = torch.from_numpy(_that_torch_may_share(request.noise))
        with torch.inference_mode(), self._receiver.forward() as version:
            if not self._is_on_cpu:
                observation, noise = observation.to(self._device), noise.to(self._device)
            output = self._policy.act(observation, noise, self._deterministic)
            if not self._is_on_cpu:
                output = ActionOutput(*(tensor.cpu() for tensor in output))
            action, log_prob = output.action.numpy(), output.log_prob.numpy()
            value = output.value.numpy()
        # Finite weights answer finite observations with finite numbers: one look per version.
        if version != self._version_seen_finite:
            self._refuse_not_finite(log_prob + value, version)  # NaN actions have no log_prob
            self._version_seen_finite = version
        return ActionBatch(request.env_id, action, log_prob, value, version, self._replica_id)

    def _refuse_not_finite(self, answers: Array, version: int) -> None:
        if not is_finite(answers):
            raise NotFiniteError(
                f"expected finite answers of policy version {version}, got NaN or infinity from "
                f"{self._replica_id}; lower algorithm.learning_rate or scale the observations"
            )


def _part(together: ActionBatch, env_id: str, rows: slice) -> ActionBatch:
    return ActionBatch(
        env_id,
        together.action[rows],
        together.log_prob[rows],
        together.value[rows],
        together.policy_version,
        together.replica_id,
    )


def _that_torch_may_share(array: Array) -> Array:
    return np.ascontiguousarray(array) if array.flags.writeable else np.array(array)
