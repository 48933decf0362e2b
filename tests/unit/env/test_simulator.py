from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from rlightning.env.observation_adapter import create_observation_adapter
from rlightning.env.simulator import SIMULATORS, Simulator, create_simulator
from rlightning.errors import EnvironmentFailedError
from rlightning.testing.environments import create_counting_vector_env

ACTION = np.zeros(2, dtype=np.int64)


class ScriptedVectorEnv(VectorEnv):
    """Answers with what the test wrote down; every array is reused and later overwritten."""

    def __init__(self, mode: Any, steps: list[tuple[Any, ...]], resets: list[Any]) -> None:
        self.metadata = {"autoreset_mode": mode}
        self.num_envs = 2
        self.single_observation_space = Box(-1e6, 1e6, shape=(1,), dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, 2)
        self.single_action_space = Discrete(2)
        self.action_space = batch_space(self.single_action_space, 2)
        self._steps, self._resets = iter(steps), iter(resets)
        self._observation = np.zeros((2, 1), dtype=np.float32)
        self._rewards, self._flags = np.zeros(2), np.zeros((2, 2), dtype=bool)

    def reset(self, *, seed=None, options=None):
        self._observation[:] = np.reshape(next(self._resets), (2, 1))
        self._rewards[:] = -1.0
        self._flags[:] = False
        return self._observation, {}

    def step(self, actions):
        seen, self._rewards[:], self._flags[0], self._flags[1], infos = next(self._steps)
        self._observation[:] = np.reshape(seen, (2, 1))
        return self._observation, self._rewards, self._flags[0], self._flags[1], infos


def _simulator(env: VectorEnv) -> Simulator:
    adapter = create_observation_adapter(env.single_observation_space, flatten=True)
    return create_simulator(env, adapter)


def _out() -> np.ndarray:
    return np.zeros((2, 1), dtype=np.float32)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_mode_may_be_said_as_the_enum_or_as_its_value(mode) -> None:
    for said in (mode, mode.value):
        assert type(_simulator(ScriptedVectorEnv(said, [], []))) is SIMULATORS[mode]


@pytest.mark.parametrize("said", [None, "Sometimes"])
def test_an_environment_that_does_not_say_its_mode_is_refused(said) -> None:
    with pytest.raises(
        EnvironmentFailedError, match=r"metadata\['autoreset_mode'\] of ScriptedVec"
    ):
        _simulator(ScriptedVectorEnv(said, [], []))


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_if_both_flags_are_true_nothing_is_bootstrapped(mode) -> None:
    ends = [["both"], ["truncated"]]
    env = create_counting_vector_env(2, mode.value, lengths=[[1]], ends=ends)
    simulator = _simulator(env)
    simulator.reset(0, _out())
    result = simulator.step(ACTION, _out())
    assert result.terminated.tolist() == [True, False]
    assert result.truncated.tolist() == [True, True]
    assert result.final_rows.tolist() == [1]
    assert result.final_observation.tolist() == [[101]]
    env.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_if_only_terminations_happen_no_last_observation_is_kept(mode) -> None:
    env = create_counting_vector_env(2, mode.value, lengths=[[1]])
    simulator = _simulator(env)
    simulator.reset(0, _out())
    result = simulator.step(ACTION, _out())
    assert result.terminated.all()
    assert result.final_rows is None
    assert result.final_observation is None
    env.close()


def test_a_reset_step_that_says_done_ends_nothing_a_second_time() -> None:
    steps = [
        ([5, 6], [1, 1], [True, False], [False, False], {}),
        ([1, 7], [9, 1], [False, False], [True, False], {}),
        ([2, 8], [1, 1], [False, False], [False, False], {}),
    ]
    simulator = _simulator(ScriptedVectorEnv(AutoresetMode.NEXT_STEP, steps, [[0, 0]]))
    simulator.reset(0, _out())
    first, second, third = (simulator.step(ACTION, _out()) for _ in range(3))
    assert first.reset_rows is None
    assert second.reset_rows.tolist() == [True, False]
    assert second.final_rows is None
    assert third.reset_rows is None


def test_a_full_reset_forgets_who_was_about_to_be_reset() -> None:
    ended = ([5, 6], [1, 1], [True, True], [False, False], {})
    goes_on = ([1, 2], [1, 1], [False, False], [False, False], {})
    env = ScriptedVectorEnv(AutoresetMode.NEXT_STEP, [ended, goes_on], [[0, 0], [0, 0]])
    simulator = _simulator(env)
    simulator.reset(0, _out())
    simulator.step(ACTION, _out())
    simulator.reset(0, _out())
    assert simulator.step(ACTION, _out()).reset_rows is None


def test_a_reset_on_demand_may_overwrite_what_the_step_returned() -> None:
    steps = [([5, 6], [3, 4], [True, False], [False, False], {})]
    env = ScriptedVectorEnv(AutoresetMode.DISABLED, steps, [[0, 0], [1, 6]])
    simulator, out = _simulator(env), _out()
    simulator.reset(0, out)
    result = simulator.step(ACTION, out)
    assert result.reward.tolist() == [3, 4]
    assert result.terminated.tolist() == [True, False]
    assert out.tolist() == [[1], [6]]


def test_an_environment_that_resets_all_instead_of_some_is_found_out() -> None:
    steps = [([5, 6], [1, 1], [True, False], [False, False], {})]
    env = ScriptedVectorEnv(AutoresetMode.DISABLED, steps, [[0, 0], [0, 0]])
    simulator = _simulator(env)
    simulator.reset(0, _out())
    with pytest.raises(EnvironmentFailedError, match="a reset of others too"):
        simulator.step(ACTION, _out())


def test_a_same_step_environment_without_last_observations_is_found_out() -> None:
    steps = [([5, 6], [1, 1], [False, False], [True, False], {"speed": 1})]
    simulator = _simulator(ScriptedVectorEnv(AutoresetMode.SAME_STEP, steps, [[0, 0]]))
    simulator.reset(0, _out())
    with pytest.raises(EnvironmentFailedError, match=r"infos\['final_obs'\].*got \['speed'\]"):
        simulator.step(ACTION, _out())


def test_last_observations_may_come_as_one_array() -> None:
    infos = {"final_obs": np.array([[50.0], [60.0]], dtype=np.float32)}
    steps = [([5, 6], [1, 1], [False, False], [False, True], infos)]
    simulator = _simulator(ScriptedVectorEnv(AutoresetMode.SAME_STEP, steps, [[0, 0]]))
    simulator.reset(0, _out())
    result = simulator.step(ACTION, _out())
    assert result.final_rows.tolist() == [1]
    assert result.final_observation.tolist() == [[60]]


def test_composite_last_observations_are_flattened_like_all_others() -> None:
    from rlightning.testing.environments import CountingEnv

    class InADict(CountingEnv):
        observation_space = Dict({"a": CountingEnv.observation_space, "b": Discrete(2)})

        def _observation(self):
            return {"a": super()._observation(), "b": 1}

    env = SyncVectorEnv(
        [lambda: InADict((1,), ("truncated",))] * 2, autoreset_mode=AutoresetMode.SAME_STEP
    )
    simulator, out = _simulator(env), np.zeros((2, 3), dtype=np.float32)
    simulator.reset(0, out)
    assert simulator.step(ACTION, out).final_observation.tolist() == [[101, 0, 1], [101, 0, 1]]
    assert out.tolist() == [[200, 0, 1], [200, 0, 1]]
    env.close()


@pytest.mark.parametrize("position", [1, 2, 3])
def test_a_wrong_number_of_rewards_or_flags_is_refused(position) -> None:
    class Short(ScriptedVectorEnv):
        def step(self, actions):
            answer = list(super().step(actions))
            answer[position] = answer[position][:1]
            return tuple(answer)

    steps = [([5, 6], [1, 1], [False, False], [False, False], {})]
    simulator = _simulator(Short(AutoresetMode.NEXT_STEP, steps, [[0, 0]]))
    simulator.reset(0, _out())
    with pytest.raises(EnvironmentFailedError, match=r"of shape \(2,\), got reward"):
        simulator.step(ACTION, _out())
