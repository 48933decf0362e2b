"""Mean, spread and length of a set of episodes, and of the last ones of each environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rlightning.types import EpisodeRecord

WINDOW_EPISODES = 100
"""Episodes that count for the mean return, as in Gymnasium's and Stable-Baselines3's statistics."""

ALL_ENVIRONMENTS = ""


def summarize_episodes(episodes: Sequence[EpisodeRecord]) -> dict[str, float | None]:
    """Return mean, standard deviation, minimum and maximum of the returns, and the mean length.

    All are None if there is no episode.
    """
    if not episodes:
        return dict.fromkeys(_SUMMARY_NAMES)
    returns = np.array([episode.episode_return for episode in episodes], dtype=np.float64)
    lengths = np.array([episode.length for episode in episodes], dtype=np.float64)
    values = (returns.mean(), returns.std(), returns.min(), returns.max(), lengths.mean())
    return {name: float(value) for name, value in zip(_SUMMARY_NAMES, values, strict=True)}


_SUMMARY_NAMES = (
    "episode_return_mean",
    "episode_return_std",
    "episode_return_min",
    "episode_return_max",
    "episode_length_mean",
)


class EpisodeWindow:
    """The last `WINDOW_EPISODES` episodes, over all environments and for each of several."""

    def __init__(self) -> None:
        self._windows: dict[str, deque[EpisodeRecord]] = {ALL_ENVIRONMENTS: _new_window()}

    def add(self, episodes: Iterable[EpisodeRecord], environments: Mapping[str, str]) -> None:
        """Take in ended episodes.

        Args:
            episodes: In order of their end.
            environments: Name of the environment by worker id, or empty.
        """
        several = len(set(environments.values())) > 1
        for episode in episodes:
            self._windows[ALL_ENVIRONMENTS].append(episode)
            worker_id = episode.env_id.partition("/")[0]
            if several and worker_id in environments:
                name = environments[worker_id]
                self._windows.setdefault(name, _new_window()).append(episode)

    def summary(self) -> dict[str, float | None]:
        """Return the summary over all, then those of each environment as ``name/…``."""
        row: dict[str, float | None] = {}
        for name, window in sorted(self._windows.items()):
            prefix = f"{name}/" if name else ""
            row |= {prefix + key: value for key, value in summarize_episodes(window).items()}
        return row

    def state(self) -> dict[str, list[tuple[str, float, int, bool]]]:
        """Return plain values for a checkpoint."""
        return {
            name: [(e.env_id, e.episode_return, e.length, e.terminated) for e in window]
            for name, window in self._windows.items()
        }

    def restore(self, state: Mapping[str, Iterable[tuple[str, float, int, bool]]]) -> None:
        """Go on from what `state` returned."""
        self._windows = {ALL_ENVIRONMENTS: _new_window()}
        for name, episodes in state.items():
            records = (EpisodeRecord(*episode) for episode in episodes)
            self._windows[name] = deque(records, maxlen=WINDOW_EPISODES)


def _new_window() -> deque[EpisodeRecord]:
    return deque(maxlen=WINDOW_EPISODES)
