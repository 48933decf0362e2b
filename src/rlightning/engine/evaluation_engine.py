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
        num_repeats: How often all was played anew, because workers had died.
    """

    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    num_repeats: int = 0

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
        max_steps_per_episode: An episode that goes on longer than this never ends.
    """

    def __init__(
        self,
        environments: EnvGroup,
        policies: PolicyGroup,
        max_steps_per_episode: int = MAX_STEPS_PER_EPISODE,
    ) -> None:
        self._environments = environments
        self._policies = policies
        self._max_steps_per_episode = max_steps_per_episode

    def run(self, num_episodes: int) -> EvaluationResult:
        """Play `num_episodes` whole episodes and return them in order of sub-environments.

        Raises:
            EvaluationError: If no episode is asked for, or one does not end.
            NoEvalPolicyError: If no replica is left that may be asked.
        """
        check_num_episodes(num_episodes)
        quota = shared_out(num_episodes, self._environments.sub_env_ids())
        played: dict[str, list[EpisodeRecord]] = {env_id: [] for env_id in quota}
        self._environments.reset()
        num_steps = 0
        last_end = dict.fromkeys(quota, 0)
        while unfinished := [name for name, num in quota.items() if len(played[name]) < num]:
            num_steps += self._environments.rollout_length
            for episode in self._play_fragments():
                played[episode.env_id].append(episode)
                last_end[episode.env_id] = num_steps
            for name in unfinished:
                if num_steps - last_end[name] > self._max_steps_per_episode:
                    raise self._endless(name)
        counted = [each for name, num in quota.items() for each in played[name][:num]]
        return EvaluationResult(
            tuple(each.episode_return for each in counted), tuple(each.length for each in counted)
        )

    def _play_fragments(self) -> list[EpisodeRecord]:
        for _ in range(self._environments.rollout_length):
            observations = self._environments.observations()
            for env_id, action in self._policies.act_each(observations):
                self._environments.step(env_id, action)
        fragments = [task.result() for task in self._environments.take_fragments()]
        return [episode for fragment in fragments for episode in fragment.episodes]

    def _endless(self, env_id: str) -> EvaluationError:
        return EvaluationError(
            f"expected every episode to end within {self._max_steps_per_episode} steps, but "
            f"{env_id} goes on; give the environment a time limit, for example "
            "with the wrapper gymnasium.wrappers:TimeLimit"
        )


def check_num_episodes(num_episodes: int) -> None:
    """Refuse an evaluation of nothing.

    Raises:
        EvaluationError: If the number is below 1.
    """
    if num_episodes < 1:
        raise EvaluationError(
            f"expected at least 1 episode, got {num_episodes}; ask for more episodes"
        )


def shared_out(num_episodes: int, env_ids: Sequence[str]) -> dict[str, int]:
    """Return how many episodes each sub-environment plays: as equal as can be."""
    quota = Counter({env_id: num_episodes // len(env_ids) for env_id in env_ids})
    quota.update(env_ids[: num_episodes % len(env_ids)])
    return dict(quota)
