"""Environments with one fault each end a run with one error; its last checkpoint stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Graph, Text

from rlightning.testing.environments import CountingEnv

HOUSE = "rlightning.testing.environments:"
MODES = ("inline", "threads")


class TextPartEnv(CountingEnv):
    """Shows a text that no network reads."""

    observation_space = Dict({"place": Box(-1.0, 1.0, (2,)), "words": Text(4)})


class GraphEnv(CountingEnv):
    """Shows a graph."""

    observation_space = Graph(Box(-1.0, 1.0, (2,)), None)


class DictActionEnv(CountingEnv):
    """Wants a dict as action."""

    action_space = Dict({"gear": Discrete(2)})


class WrongPartEnv(CountingEnv):
    """Shows a part of another shape in its fifth step."""

    observation_space = Dict({"place": Box(-1e9, 1e9, (2,))})

    def _observation(self) -> Any:
        return {"place": np.zeros(3 if self.num_steps == 5 else 2, dtype=np.float32)}


class ExplodingEnv(CountingEnv):
    """Rewards become too large to be squared after some steps."""

    def __init__(self, at_step: int = 20) -> None:
        super().__init__()
        self._at = at_step

    def step(self, action: np.int64) -> Any:
        """Count one step."""
        observation, reward, terminated, truncated, infos = super().step(action)
        factor = 1e30 if self.num_steps >= self._at else 1.0
        return observation, reward * factor, terminated, truncated, infos


class OldStepEnv(CountingEnv):
    """Answers four values, as environments did long ago."""

    def step(self, action: np.int64) -> Any:
        """Count one step."""
        return super().step(action)[:4]


class UnmakeableEnv(CountingEnv):
    """Raises when it is made."""

    def __init__(self) -> None:
        raise KeyError("level")


for _maker in (
    TextPartEnv, GraphEnv, DictActionEnv, WrongPartEnv, ExplodingEnv, OldStepEnv, UnmakeableEnv,
):  # fmt: skip
    gymnasium.register(f"BadInput{_maker.__name__.removesuffix('Env')}-v0", entry_point=_maker)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("env_id", "settings", "parts"),
    [
        ("Raising", ("at_reset=1",), ("reset", "RuntimeError: the simulator crashed in reset")),
        ("Raising", ("at_step=3",), ("step 3", "RuntimeError: the simulator crashed in step")),
        ("Finite", ("num_available=3",), ("step 4", "StopIteration: the source has no more steps")),
        ("NaN", ("at_step=0",), ("reset", "expected a finite observation, got [nan] in sub-env")),
        ("NaN", ("at_step=2",), ("step 2", "expected a finite observation, got [nan] in sub-env")),
        ("NaN", ("at_step=3", "where=reward"), ("step 3", "expected a finite reward, got nan")),
        ("NaN", ("at_step=2", "value=.inf"), ("step 2", "a finite observation, got [inf]")),
        ("WrongShape", ("at_step=0",), ("reset", "of shape (1,), got (3,) in sub-environment 0")),
        ("WrongShape", ("at_step=3",), ("step 3", "of shape (1,), got (3,) in sub-environment 0")),
    ],
)
def test_a_faulty_environment_is_named_with_worker_and_step(
    refused_training: Callable[..., Any],
    mode: str,
    env_id: str,
    settings: tuple[str, ...],
    parts: tuple[str, ...],
) -> None:
    words = [f"env.kwargs.{setting}" for setting in settings]
    failure = refused_training(f"env.id={HOUSE}{env_id}-v0", f"cluster.mode={mode}", *words)
    assert failure.code == 1
    assert f"environment '{HOUSE}{env_id}-v0' (env-" in failure.message
    for part in parts:
        assert part in failure.message


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("TextPart", ("expected an observation space of Box, Discrete", "at 'words'", "wrapper")),
        ("Graph", ("expected an observation space of Box, Discrete", "got Graph(Box(", "wrapper")),
        ("DictAction", ("expected an action space of Discrete", "got Dict('gear'", "wrapper")),
        ("WrongPart", ("step 5: expected an observation of shape (2,) at 'place', got (3,)",)),
        ("OldStep", ("step 1", "not enough values to unpack (expected 5, got 4)", "--debug")),
        ("Unmakeable", ("to be made", "KeyError: 'level'; correct these or the environment")),
    ],
)
def test_an_unusable_environment_is_named(
    refused_training: Callable[..., Any], mode: str, name: str, parts: tuple[str, ...]
) -> None:
    failure = refused_training(f"env.id=BadInput{name}-v0", f"cluster.mode={mode}")
    assert failure.code == 1
    assert f"environment 'BadInput{name}-v0'" in failure.message
    for part in parts:
        assert part in failure.message


def test_a_network_that_cannot_read_the_observations_is_refused(
    refused_training: Callable[..., Any],
) -> None:
    failure = refused_training("policy.network=cnn")
    assert failure.code == 1
    assert "network cnn expects images" in failure.message
    assert "got (4,); set policy.network=mlp" in failure.message


@pytest.mark.parametrize("mode", MODES)
def test_the_training_stops_at_the_first_number_that_is_not_finite(
    refused_training: Callable[..., Any], mode: str
) -> None:
    failure = refused_training("algorithm.learning_rate=1e30", f"cluster.mode={mode}")
    assert failure.code == 1
    assert "expected finite numbers, got NaN or infinity in the value_loss" in failure.message
    assert "lower algorithm.learning_rate" in failure.message


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("env_id", "settings", "message"),
    [
        (f"{HOUSE}Raising-v0", ("env.kwargs.at_step=20",), "step 20"),
        (f"{HOUSE}NaN-v0", ("env.kwargs.at_step=20",), "step 20"),
        (f"{HOUSE}WrongShape-v0", ("env.kwargs.at_step=20",), "step 20"),
        ("BadInputExploding-v0", (), "in the value_loss at minibatch"),
    ],
)
def test_after_a_failure_the_run_goes_on_from_its_last_checkpoint(
    refused_training: Callable[..., Any],
    done: Callable[..., str],
    checkpoints: Callable[[], list[str]],
    mode: str,
    env_id: str,
    settings: tuple[str, ...],
    message: str,
) -> None:
    failure = refused_training(f"env.id={env_id}", f"cluster.mode={mode}", *settings)
    assert failure.code == 1
    assert message in failure.message
    advice = failure.message.splitlines()[-1]
    assert advice.startswith("go on from the last checkpoint with: rlightning resume runs/")
    assert [name[:18] for name in checkpoints()] == ["iteration-00000001", "iteration-00000002"]
    printed = done("resume", advice.split()[-1], "env.kwargs.at_step=1_000_000")
    assert "128 steps" in printed
    assert checkpoints()[-1].startswith("iteration-00000004")


def test_a_traceback_of_the_environment_is_shown_when_it_is_asked_for(
    failed_with_debug: Callable[..., str],
) -> None:
    printed = failed_with_debug(f"env.id={HOUSE}Raising-v0", "env.kwargs.at_step=3")
    assert printed.startswith("Traceback (most recent call last):\n")
    assert 'raise RuntimeError("the simulator crashed in step")' in printed
    assert printed.count("\nerror: ") == 1
