"""The worker that holds the trained weights and updates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from rlightning.algorithm.base import Algorithm
from rlightning.policy.base import Policy
from rlightning.types import Fragment, UpdateReport
from rlightning.weights.publisher import Publisher
from rlightning.weights.snapshot import WeightsSnapshot
from rlightning.weights.state_fit import copy_state


class Learner:
    """Hosts one algorithm per kind of environment; lives behind a worker handle.

    Not thread-safe: the runtime calls one method at a time.

    Args:
        factories: Makes the algorithm of each kind.
    """

    def __init__(self, factories: Mapping[str, Callable[[], Algorithm]]) -> None:
        self._algorithms = {kind: create() for kind, create in factories.items()}
        self._publishers = {kind: Publisher() for kind in factories}

    def update(self, progress: float, kinds: Sequence[str], *fragments: Fragment) -> UpdateReport:
        """Update the algorithm of each kind with its fragments.

        Args:
            progress: Share of the whole training done so far, from 0 to 1.
            kinds: Kind of each fragment.
            *fragments: What the environment workers collected.
        """
        metrics: dict[str, float] = {}
        for kind, algorithm in self._algorithms.items():
            own = [part for part, of in zip(fragments, kinds, strict=True) if of == kind]
            prefix = f"{kind}/" if len(self._algorithms) > 1 else ""
            results = algorithm.update(own, progress) if own else {}
            metrics.update({f"{prefix}{name}": value for name, value in results.items()})
        versions = {int(version) for part in fragments for version in set(part.policy_version)}
        return UpdateReport(
            metrics=metrics,
            episodes=tuple(episode for part in fragments for episode in part.episodes),
            num_steps=sum(part.num_valid for part in fragments),
            policy_versions=tuple(sorted(versions)),
        )

    def publish(self, kind: str) -> WeightsSnapshot:
        """Make the present weights of one kind a new version."""
        return self._publishers[kind].publish(self._algorithms[kind].policy)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that a resumed run needs, as tensors and plain values."""
        return {
            kind: {
                "next_version": self._publishers[kind].next_version,
                "policy": _copied(algorithm.policy),
                "algorithm": algorithm.state_dict(),
            }
            for kind, algorithm in self._algorithms.items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned; versions go on, episodes start anew."""
        for kind, algorithm in self._algorithms.items():
            copy_state(state[kind]["policy"], algorithm.policy.state_dict())
            algorithm.load_state_dict(state[kind]["algorithm"])
            algorithm.start_new_episodes()
            self._publishers[kind] = Publisher(int(state[kind]["next_version"]))


def _copied(policy: Policy) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in policy.state_dict().items()}
