"""What every algorithm does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlightning.config.algorithm_config import AlgorithmConfig
from rlightning.policy.base import Policy
from rlightning.types import Fragment


class Algorithm(ABC):
    """Improves a policy from what it collected.

    A user's own algorithm is a subclass with the constructor ``(policy, config, seed)``.

        for iteration in ...:
            fragments = collect_with(policy)
            metrics = algorithm.update(fragments, progress)

    Attributes:
        config_model: Settings that stand in the block `algorithm` of the configuration.
        policy: What is improved, in place.
    """

    config_model: ClassVar[type[AlgorithmConfig]] = AlgorithmConfig
    policy: Policy

    def __init__(self, policy: Policy, config: AlgorithmConfig, seed: int) -> None:
        self.policy = policy
        del config, seed

    @abstractmethod
    def update(self, fragments: Sequence[Fragment], progress: float) -> dict[str, float]:
        """Improve the policy and return metrics.

        Args:
            fragments: Steps of one iteration, collected with the policy as it is now.
            progress: Share of the run that is done, from 0 to 1.

        Raises:
            NotFiniteError: If a quantity becomes NaN or infinite; the message names it. The
                policy must not be used any more.
        """

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Return a copy of all that an exact continuation needs besides the policy's weights.

        It holds tensors, numbers, texts, lists and dictionaries only. The learner keeps the
        weights.
        """

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; the policy has its weights already."""

    def start_new_episodes(self) -> None:  # noqa: B027
        """Forget what belongs to unfinished episodes: the environments start anew."""
