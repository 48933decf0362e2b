"""Plays whole episodes with frozen weights and without training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlightning.env.group import EnvGroup
from rlightning.errors import EvaluationError
from rlightning.policy.group import PolicyGroup
from rlightning.types import EpisodeRecord

MAX_STEPS_PER_EPISODE = 1_000_000


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """Returns of whole episodes.

    Attributes:
        returns: Undiscounted, one per episode.
        lengths: Steps of each episode.
    """

    returns: tuple[float, ...]
    lengths: tuple[int, ...]

    @property
    def num_episodes(self) -> int:
        """How many episodes were played."""
        return len(self.returns)

    @property
    def mean_return(self) -> float:
        """Mean of the returns."""
        return float(np.mean(self.returns))

    @property
    def std_return(self) -> float:
        """Standard deviation of the returns."""
        return float(np.std(self.returns))

    @property
    def min_return(self) -> float:
        """Smallest return."""
        return min(self.returns)

    @property
    def max_return(self) -> float:
        """Largest return."""
        return max(self.returns)

    @property
    def mean_length(self) -> float:
        """Mean length in environment steps."""
        return float(np.mean(self.lengths))


class EvaluationEngine:
    """Plays a number of episodes in environments of its own.

    Every sub-environment is given its number of episodes beforehand and plays just these. To
    take the first N episodes that end anywhere would favour short ones.

    Args:
        environments: Workers that only this evaluation uses.
        policies: Replicas that hold the weights to be evaluated.
    """

    def __init__(self, environments: EnvGroup, policies: PolicyGroup) -> None:
        self._environments = environments
        self._policies = policies

    def run(self, num_episodes: int) -> EvaluationResult:
        """Play `num_episodes` whole episodes and return them in order of sub-environments.

        Raises:
            EvaluationError: If an episode does not end within 1,000,000 steps.
        """
        quota = shared_out(num_episodes, self._environments.sub_env_ids())
        played: dict[str, list[EpisodeRecord]] = {env_id: [] for env_id in quota}
        self._environments.reset()
        steps_without_end = 0
        while unfinished := [name for name, num in quota.items() if len(played[name]) < num]:
            episodes = self._play_fragments()
            for episode in episodes:
                played[episode.env_id].append(episode)
            steps_without_end = 0 if episodes else steps_without_end + self._chunk
            if steps_without_end > MAX_STEPS_PER_EPISODE:
                raise EvaluationError(
                    f"expected every episode to end within {MAX_STEPS_PER_EPISODE} steps, but "
                    f"{unfinished[0]} goes on; give the environment a time limit, for example "
                    "with the wrapper gymnasium.wrappers:TimeLimit"
                )
        counted = [each for name, num in quota.items() for each in played[name][:num]]
        return EvaluationResult(
            tuple(each.episode_return for each in counted), tuple(each.length for each in counted)
        )

    @property
    def _chunk(self) -> int:
        return self._environments.rollout_length

    def _play_fragments(self) -> list[EpisodeRecord]:
        for _ in range(self._chunk):
            for env_id, observation in self._environments.observations():
                self._environments.step(env_id, self._policies.act(env_id, observation))
        fragments = [task.result() for task in self._environments.take_fragments()]
        return [episode for fragment in fragments for episode in fragment.episodes]


def shared_out(num_episodes: int, env_ids: Sequence[str]) -> dict[str, int]:
    """Return how many episodes each sub-environment plays: as equal as can be."""
    quota = Counter({env_id: num_episodes // len(env_ids) for env_id in env_ids})
    quota.update(env_ids[: num_episodes % len(env_ids)])
    return dict(quota)
