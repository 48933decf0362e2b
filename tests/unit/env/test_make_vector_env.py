from __future__ import annotations

import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from gymnasium.envs.registration import WrapperSpec
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlightning.config.env_config import EnvConfig
from rlightning.env.make import find_env_spec, make_vector_env
from rlightning.errors import ConfigError, EnvironmentFailedError, MissingExtraError
from rlightning.testing.environments import CountingEnv

COUNTING = "rlightning.testing.environments:Counting-v0"


class AddOne(gymnasium.ObservationWrapper):
    def observation(self, observation):
        return observation + 1


class Double(gymnasium.ObservationWrapper):
    def observation(self, observation):
        return observation * 2


not_a_wrapper = 5


def test_the_vectorised_implementation_is_taken_where_there_is_one() -> None:
    env = make_vector_env(EnvConfig(id="CartPole-v1", num_envs=3))
    assert isinstance(env, CartPoleVectorEnv)
    assert env.num_envs == 3
    assert env.max_episode_steps == 500
    env.close()


@pytest.mark.parametrize("env_id", ["Acrobot-v1", "Pendulum-v1", COUNTING])
def test_all_others_are_stepped_one_after_the_other_with_resets_on_demand(env_id) -> None:
    env = make_vector_env(EnvConfig(id=env_id, num_envs=3))
    assert isinstance(env, SyncVectorEnv)
    assert env.num_envs == 3
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    env.close()


def test_sync_can_be_asked_for() -> None:
    env = make_vector_env(EnvConfig(id="CartPole-v1", num_envs=2, vectorization="sync"))
    assert isinstance(env, SyncVectorEnv)
    env.close()


@pytest.mark.parametrize("vectorization", ["auto", "sync"])
def test_kwargs_reach_the_environment(vectorization) -> None:
    config = EnvConfig(
        id="CartPole-v1",
        num_envs=1,
        kwargs={"sutton_barto_reward": True, "max_episode_steps": 2},
        vectorization=vectorization,
    )
    env = make_vector_env(config)
    env.reset(seed=0)
    assert env.step(np.array([0]))[1].tolist() == [0.0]
    assert env.step(np.array([0]))[3].tolist() == [True]
    env.close()


def test_wrappers_stand_around_every_sub_environment_the_first_innermost(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wrappers_of_a_user", sys.modules[__name__])
    paths = ("wrappers_of_a_user:AddOne", "wrappers_of_a_user:Double")
    env = make_vector_env(EnvConfig(id=COUNTING, num_envs=2, wrappers=paths))
    assert env.reset()[0].tolist() == [[202], [202]]
    env.close()


def test_a_wrapper_rules_the_vectorised_implementation_out() -> None:
    wrappers = ("gymnasium.wrappers:FlattenObservation",)
    env = make_vector_env(EnvConfig(id="CartPole-v1", num_envs=2, wrappers=wrappers))
    assert isinstance(env, SyncVectorEnv)
    env.close()
    config = EnvConfig(id="CartPole-v1", wrappers=wrappers, vectorization="native")
    with pytest.raises(ConfigError, match="wrappers stand around single environments"):
        make_vector_env(config)


def test_wrappers_of_the_registration_rule_the_vectorised_implementation_out() -> None:
    limit = WrapperSpec("TimeLimit", "gymnasium.wrappers:TimeLimit", {"max_episode_steps": 2})
    gymnasium.register(
        "Limited-v0",
        entry_point=CountingEnv,
        vector_entry_point="rlightning.testing.environments:create_counting_vector_env",
        additional_wrappers=(limit,),
    )
    env = make_vector_env(EnvConfig(id="Limited-v0", num_envs=1))
    env.reset()
    assert [env.step(np.array([0]))[3].tolist() for _ in range(2)] == [[False], [True]]
    env.close()
    with pytest.raises(ConfigError, match="its registration adds wrappers"):
        make_vector_env(EnvConfig(id="Limited-v0", vectorization="native"))
    gymnasium.registry.pop("Limited-v0")


def test_native_is_refused_where_there_is_no_vectorised_implementation() -> None:
    with pytest.raises(ConfigError, match="'Acrobot-v1', got none to use: it registers none"):
        make_vector_env(EnvConfig(id="Acrobot-v1", vectorization="native"))


def test_a_wrapper_that_cannot_be_called_is_refused(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wrappers_of_a_user", sys.modules[__name__])
    config = EnvConfig(id=COUNTING, wrappers=("wrappers_of_a_user:not_a_wrapper",))
    with pytest.raises(ConfigError, match="expected wrapper 'wrappers_of_a_user:not_a_wrapper'"):
        make_vector_env(config)


def test_an_unknown_wrapper_is_refused_with_the_nearest_name() -> None:
    config = EnvConfig(id=COUNTING, wrappers=("gymnasium.wrappers:FlattenObservatio",))
    with pytest.raises(ConfigError, match="did you mean 'FlattenObservation'"):
        make_vector_env(config)


@pytest.mark.parametrize(
    ("env_id", "nearest"),
    [
        ("CartPol-v1", "CartPole-v1"),
        ("Pendulun-v1", "Pendulum-v1"),
        ("rlightning.testing.environments:Countin-v0", "Counting-v0"),
    ],
)
def test_an_unknown_environment_is_refused_with_the_nearest_name(env_id, nearest) -> None:
    with pytest.raises(EnvironmentFailedError, match=f"got '{env_id}'.*did you mean '{nearest}'"):
        find_env_spec(env_id)


def test_an_unknown_module_is_named() -> None:
    with pytest.raises(EnvironmentFailedError, match="No module named 'no_such_module'"):
        find_env_spec("no_such_module:Env-v0")


def test_a_module_that_raises_when_imported_is_named(monkeypatch, tmp_path) -> None:
    (tmp_path / "module_that_raises.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EnvironmentFailedError, match="'module_that_raises'.*ZeroDivisionError"):
        find_env_spec("module_that_raises:Env-v0")


@pytest.mark.parametrize(
    ("env_id", "package", "extra"),
    [
        ("HalfCheetah-v5", "mujoco", "mujoco"),
        ("ALE/Pong-v5", "ale_py", "atari"),
        ("ale_py:ALE/Pong-v5", "ale_py", "atari"),
        ("envpool:Pong-v5", "envpool", "envpool"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    monkeypatch, env_id, package, extra
) -> None:
    for module in [name for name in sys.modules if name.startswith("gymnasium.envs.mujoco")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(MissingExtraError, match=rf"pip install 'rlightning\[{extra}\]'"):
        make_vector_env(EnvConfig(id=env_id))


def test_another_missing_package_is_named_too(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium.envs.toy_text.taxi", None)
    with pytest.raises(EnvironmentFailedError, match="expected the packages of environment 'Taxi"):
        make_vector_env(EnvConfig(id="Taxi-v4"))


@pytest.mark.parametrize("vectorization", ["native", "sync"])
def test_kwargs_that_the_constructor_refuses_are_named(vectorization) -> None:
    config = EnvConfig(id="CartPole-v1", kwargs={"gravityy": 1}, vectorization=vectorization)
    with pytest.raises(EnvironmentFailedError, match="kwargs {'gravityy': 1} .*got TypeError"):
        make_vector_env(config)


def test_a_wrapper_that_needs_arguments_is_named() -> None:
    wrappers = ("gymnasium.wrappers:TimeLimit",)
    with pytest.raises(EnvironmentFailedError, match="wrappers:TimeLimit'], got TypeError"):
        make_vector_env(EnvConfig(id=COUNTING, wrappers=wrappers))


def test_environments_made_before_a_failure_are_closed(monkeypatch) -> None:
    made = []

    def make(spec, **kwargs):
        if len(made) == 2:
            raise RuntimeError("no more simulators")
        made.append(CountingEnv())
        return made[-1]

    monkeypatch.setattr(gymnasium, "make", make)
    with pytest.raises(EnvironmentFailedError, match="no more simulators"):
        make_vector_env(EnvConfig(id=COUNTING, num_envs=4))
    assert [env.was_closed for env in made] == [True, True]


def test_the_vectorised_cart_pole_plays_like_the_single_one() -> None:
    """Same state, same actions: same rewards and ends; a pole that stays up is cut at 500."""
    single = gymnasium.make("CartPole-v1")
    vector = make_vector_env(EnvConfig(id="CartPole-v1", num_envs=1))
    for force, last_flags in (("right", (True, False)), ("balance", (False, True))):
        observation, _ = single.reset(seed=3)
        vector.reset(seed=3)
        vector.state = np.array(single.unwrapped.state)[:, np.newaxis]
        flags, num_steps = (False, False), 0
        while not any(flags):
            lean = observation[2] + observation[3] + 0.1 * observation[0] + 0.2 * observation[1]
            action = 1 if force == "right" else int(lean > 0)
            observation, reward, *flags, _ = single.step(action)
            seen, rewards, terminated, truncated, _ = vector.step(np.array([action]))
            np.testing.assert_allclose(seen[0], observation, rtol=1e-4, atol=1e-4)
            assert (rewards[0], terminated[0], truncated[0]) == (reward, *flags)
            num_steps += 1
        assert tuple(flags) == last_flags
        assert (num_steps == 500) == last_flags[1]
    single.close()
    vector.close()


def test_an_environment_of_a_users_module_is_imported_by_its_id(monkeypatch, tmp_path) -> None:
    (tmp_path / "robots_of_a_user.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Robot-v0', "
        "entry_point='rlightning.testing.environments:CountingEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    env = make_vector_env(EnvConfig(id="robots_of_a_user:Robot-v0", num_envs=2))
    assert env.single_observation_space == Box(0.0, 1e9, shape=(1,), dtype=np.float32)
    env.close()
    gymnasium.registry.pop("Robot-v0")
