"""Filming a policy at play."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import RecordVideo

from rlightning.config.env_config import EnvConfig
from rlightning.engine.deployed_policy import DeployedPolicy
from rlightning.env.make import find_env_spec
from rlightning.errors import EvaluationError, MissingExtraError
from rlightning.registry import import_object

NUM_FILMED_EPISODES = 3
RENDER_MODE = "rgb_array"


def record_videos(
    policy: DeployedPolicy,
    env: EnvConfig,
    folder: Path,
    *,
    seed: int,
    deterministic: bool = True,
    num_episodes: int = NUM_FILMED_EPISODES,
) -> list[Path]:
    """Film whole episodes, one file each, and return the files.

    Films of other environments in the same folder stay.

    Raises:
        MissingExtraError: If the packages for drawing or for writing films are missing.
        EvaluationError: If the environment cannot draw.
    """
    prefix = re.sub(r"[^A-Za-z0-9._-]+", "-", env.id)
    _refuse_what_cannot_draw(env)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as workplace:
        studio = Path(workplace, "films")  # one that is there already brings a warning
        filmed = _filmed(env, studio, prefix)
        try:
            for episode in range(num_episodes):
                _play(filmed, policy, seed + episode, deterministic)
        except DependencyNotInstalled as error:
            filmed.unwrapped.close()  # to close a film without a picture brings a warning
            raise _missing_extra(error) from error
        filmed.close()
        return [_moved(film, folder) for film in sorted(studio.glob("*.mp4"))]


def _moved(film: Path, folder: Path) -> Path:
    return Path(shutil.move(film, folder / film.name))


def _refuse_what_cannot_draw(env: EnvConfig) -> None:
    plain = gymnasium.make(find_env_spec(env.id), **env.kwargs)
    modes = plain.metadata.get("render_modes") or ()
    plain.close()
    if RENDER_MODE not in modes:
        raise EvaluationError(
            f"expected environment {env.id!r} to draw itself with render_mode {RENDER_MODE!r}, "
            f"got the modes {', '.join(modes) or 'none'}; evaluate it without a video"
        )


def _filmed(env: EnvConfig, studio: Path, prefix: str) -> gymnasium.Env[Any, Any]:
    try:
        played = gymnasium.make(find_env_spec(env.id), render_mode=RENDER_MODE, **env.kwargs)
        for path in env.wrappers:
            played = import_object(path)(played)  # type: ignore[operator]
        return RecordVideo(played, str(studio), episode_trigger=lambda _: True, name_prefix=prefix)
    except (DependencyNotInstalled, ImportError) as error:
        raise _missing_extra(error) from error


def _play(
    env: gymnasium.Env[Any, Any], policy: DeployedPolicy, seed: int, deterministic: bool
) -> None:
    observation, _ = env.reset(seed=seed)
    is_over = False
    while not is_over:
        action = policy.act(observation, deterministic=deterministic)
        observation, _, terminated, truncated, _ = env.step(action)
        is_over = terminated or truncated


def _missing_extra(error: Exception) -> MissingExtraError:
    return MissingExtraError(
        f"a video needs the extra 'video', got: {error}; "
        "install it with: pip install 'rlightning[video]'"
    )
