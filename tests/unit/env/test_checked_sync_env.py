"""Sub-environments in turn: a wrong observation is told with its part and both shapes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Space, Text, Tuple
from gymnasium.vector import AutoresetMode

from rlightning.env.checked_sync_env import CheckedSyncEnv, wrong_shape
from rlightning.errors import ShapeError
from rlightning.testing.environments import CountingEnv, RaisingEnv, WrongShapeEnv

PAIR = Box(-1.0, 1.0, (2,))
NESTED = Dict({"arm": Tuple([PAIR, Discrete(3)]), "name": Text(4)})


@pytest.mark.parametrize(
    ("space", "observation", "message"),
    [
        (PAIR, np.zeros(3), "expected an observation of shape (2,), got (3,)"),
        (PAIR, [0.0, 0.0, 0.0], "expected an observation of shape (2,), got (3,)"),
        (PAIR, 1.0, "expected an observation of shape (2,), got a single number"),
        (PAIR, [[0.0], [0.0, 0.0]], "of shape (2,), got rows of several lengths"),
        (NESTED, {"arm": (np.zeros(1), 0), "name": "a"}, "shape (2,) at 'arm.0', got (1,)"),
    ],
)
def test_a_wrong_shape_is_told(space: Space[Any], observation: Any, message: str) -> None:
    fault = wrong_shape(space, observation)
    assert fault is not None
    assert message in fault


@pytest.mark.parametrize(
    ("space", "observation"),
    [(PAIR, np.zeros(2)), (PAIR, [0, 0]), (NESTED, {"arm": ([0.0, 1.0], 2), "name": "any"})],
)
def test_a_right_shape_is_passed(space: Space[Any], observation: Any) -> None:
    assert wrong_shape(space, observation) is None


def test_the_guilty_sub_environment_is_named_in_reset_and_in_step() -> None:
    env = CheckedSyncEnv([CountingEnv(), WrongShapeEnv(at_step=0)])
    with pytest.raises(ShapeError, match=r"got \(3,\) in sub-environment 1; correct what"):
        env.reset()
    env = CheckedSyncEnv([CountingEnv(lengths=(9,)), WrongShapeEnv(at_step=2, lengths=(9,))])
    env.reset()
    env.step([0, 0])
    with pytest.raises(ShapeError, match=r"got \(3,\) in sub-environment 1; correct what"):
        env.step([0, 0])


def test_a_value_error_of_the_environment_itself_passes() -> None:
    class UnluckyEnv(CountingEnv):
        def step(self, action: np.int64) -> Any:
            raise ValueError("no such lever")

    env = CheckedSyncEnv([UnluckyEnv()])
    env.reset()
    with pytest.raises(ValueError, match="no such lever"):
        env.step([0])


def test_other_errors_pass() -> None:
    env = CheckedSyncEnv([RaisingEnv(at_step=1)])
    env.reset()
    with pytest.raises(RuntimeError, match="crashed in step"):
        env.step([0])


def test_it_resets_on_demand_and_hands_out_one_array() -> None:
    env = CheckedSyncEnv([CountingEnv(lengths=(1,)), CountingEnv(lengths=(9,))])
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    first, _ = env.reset()
    second, _, terminated, _, _ = env.step([0, 0])
    assert first is second
    assert terminated.tolist() == [True, False]
    shown, _ = env.reset(options={"reset_mask": terminated.copy()})
    assert shown.reshape(-1).tolist() == [200.0, 101.0]
    assert all(isinstance(each, gymnasium.Wrapper) for each in env.envs)
