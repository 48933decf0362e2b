from __future__ import annotations

from types import SimpleNamespace

import pytest
from gymnasium.error import DependencyNotInstalled

from rlightning.config.env_config import EnvConfig
from rlightning.engine.video import record_videos
from rlightning.errors import EvaluationError, MissingExtraError

FIRST_ACTION = SimpleNamespace(act=lambda observation, deterministic: 0)
SHORT = EnvConfig(id="CartPole-v1", kwargs={"max_episode_steps": 3})


def test_each_episode_is_filmed_into_a_file_of_its_own(tmp_path) -> None:
    films = record_videos(FIRST_ACTION, SHORT, tmp_path, seed=0, num_episodes=2)
    assert [film.name for film in films] == [
        "CartPole-v1-episode-0.mp4", "CartPole-v1-episode-1.mp4",
    ]  # fmt: skip
    assert all(film.stat().st_size for film in films)
    assert {film.parent for film in films} == {tmp_path}
    again = record_videos(FIRST_ACTION, SHORT, tmp_path, seed=0, num_episodes=1)
    assert again == films[:1], "a later film of the same episode takes the place of the former"


def test_wrappers_are_filmed_too(tmp_path) -> None:
    env = SHORT.model_copy(update={"wrappers": ("gymnasium.wrappers:NormalizeObservation",)})
    seen = []
    policy = SimpleNamespace(act=lambda observation, deterministic: seen.append(observation) or 0)
    record_videos(policy, env, tmp_path, seed=0, num_episodes=1)
    assert abs(seen[0]).max() < 0.1


def test_an_environment_that_cannot_draw_is_refused(tmp_path) -> None:
    env = EnvConfig(id="rlightning.testing.environments:Counting-v0")
    with pytest.raises(EvaluationError, match="rgb_array.*without a video"):
        record_videos(FIRST_ACTION, env, tmp_path, seed=0)


@pytest.mark.parametrize("when", ["render", "make"])
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, when) -> None:
    def refuse(*arguments, **options):
        raise DependencyNotInstalled("pygame is not installed")

    if when == "make":
        monkeypatch.setattr("rlightning.engine.video.RecordVideo", refuse)
    else:
        monkeypatch.setattr("gymnasium.envs.classic_control.CartPoleEnv.render", refuse)
    with pytest.raises(MissingExtraError, match="rlightning\\[video\\]"):
        record_videos(FIRST_ACTION, SHORT, tmp_path, seed=0, num_episodes=1)
