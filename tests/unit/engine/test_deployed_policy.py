from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import policy_factory
from rlightning.engine.deployed_policy import DeployedPolicy
from rlightning.env.space_kind import SpaceKind
from rlightning.env.worker import EnvWorker
from rlightning.errors import CheckpointError, NotFiniteError, SpaceError
from rlightning.policy.replica import PolicyReplica
from rlightning.testing.environments import CountingEnv
from rlightning.types import ObservationBatch
from rlightning.weights.snapshot import WeightsSnapshot


def config_of(env_id: str, **env) -> RunConfig:
    return load_config({"env": {"id": env_id, **env}, "policy": {"hidden_sizes": [8]}})


def kind_of(config: RunConfig) -> SpaceKind:
    worker = EnvWorker(config.env_configs[0], 0, 4, 0)
    try:
        return worker.kind()
    finally:
        worker.close()


def deployed(config: RunConfig, seed: int = 0) -> DeployedPolicy:
    """With weights that are not the initial ones."""
    kind = kind_of(config)
    policy = policy_factory(config, kind)()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(0.3)
    state = {"learner": {kind.name: {"policy": policy.state_dict()}}}
    return DeployedPolicy(config, config.env_configs[0], state, seed)


def test_it_answers_a_discrete_action_for_one_observation() -> None:
    policy = deployed(config_of("CartPole-v1"))
    action = policy.act(np.array([0.1, 0.0, -0.1, 0.0], dtype=np.float32))
    assert int(action) in (0, 1)
    assert np.ndim(action) == 0


@pytest.mark.parametrize("as_type", [list, tuple, np.float64, np.float32])
def test_lists_and_other_floats_pass_for_arrays(as_type) -> None:
    policy = deployed(config_of("CartPole-v1"))
    numbers = [0.1, 0.0, -0.1, 0.0]
    given = as_type(numbers) if as_type in (list, tuple) else np.array(numbers, dtype=as_type)
    assert policy.act(given) == policy.act(np.array(numbers, dtype=np.float32))


def test_the_likeliest_action_is_the_same_each_time_and_random_ones_are_not() -> None:
    policy = deployed(config_of("Pendulum-v1"))
    observation = np.array([1.0, 0.0, 0.5], dtype=np.float32)
    likeliest = {float(policy.act(observation)[0]) for _ in range(5)}
    drawn = {float(policy.act(observation, deterministic=False)[0]) for _ in range(5)}
    assert len(likeliest) == 1
    assert len(drawn) > 1


def test_equal_seeds_draw_equal_actions() -> None:
    observation = np.array([1.0, 0.0, 0.5], dtype=np.float32)
    draws = [
        [float(policy.act(observation, deterministic=False)[0]) for _ in range(4)]
        for policy in (deployed(config_of("Pendulum-v1"), seed) for seed in (1, 1, 2))
    ]
    assert draws[0] == draws[1] != draws[2]


def test_actions_are_clipped_to_the_space() -> None:
    policy = deployed(config_of("Pendulum-v1"))
    observation = np.array([1.0, 0.0, 0.5], dtype=np.float32)
    actions = [policy.act(observation, deterministic=False) for _ in range(200)]
    assert max(abs(float(action[0])) for action in actions) <= 2.0
    assert actions[0].shape == (1,)


def test_it_answers_as_the_replica_does() -> None:
    config = config_of("CartPole-v1")
    kind = kind_of(config)
    policy = policy_factory(config, kind)()
    replica = PolicyReplica(policy_factory(config, kind), "eval-0", "cpu", deterministic=True)
    replica.set_weights(WeightsSnapshot(0, policy.state_dict()))
    state = {"learner": {kind.name: {"policy": policy.state_dict()}}}
    deployment = DeployedPolicy(config, config.env_configs[0], state)
    generator = np.random.default_rng(0)
    for _ in range(20):
        observation = generator.standard_normal((1, 4), dtype=np.float32)
        request = ObservationBatch("env-0", observation, np.zeros((1, 1), np.float32))
        (answer,) = replica.act([request])
        assert int(deployment.act(observation[0])) == int(answer.action[0])


def test_numbers_beyond_the_bounds_are_answered_as_in_training() -> None:
    policy = deployed(config_of("Pendulum-v1"))
    assert policy.act([1.0, 0.0, 8.0001]).shape == (1,)


@pytest.mark.parametrize(
    ("observation", "got"),
    [
        (np.zeros((1, 4), np.float32), r"shape \(1, 4\)"),
        (np.zeros(3, np.float32), r"shape \(3,\)"),
        ([0.0, 0.0], "list"),
        ("up", "str"),
        (None, "NoneType"),
    ],
)
def test_what_does_not_fit_the_space_is_refused(observation, got) -> None:
    with pytest.raises(SpaceError, match=got):
        deployed(config_of("CartPole-v1")).act(observation)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value) -> None:
    with pytest.raises(NotFiniteError, match="finite observation"):
        deployed(config_of("CartPole-v1")).act([0.0, value, 0.0, 0.0])


def test_structured_observations_are_flattened_as_in_training() -> None:
    policy = deployed(config_of("Blackjack-v1"))
    assert int(policy.act((14, 10, 0))) in (0, 1)
    for wrong in ((14, 10), (14, 10, 5), 14, "abc"):
        with pytest.raises(SpaceError):
            policy.act(wrong)


class NamedEnv(CountingEnv):
    observation_space = Dict({"speed": Box(-1.0, 1.0, (1,), np.float32), "gear": Discrete(3)})


gymnasium.register("Named-v0", entry_point=NamedEnv)


def test_named_parts_are_all_needed() -> None:
    policy = deployed(config_of("Named-v0"))
    assert int(policy.act({"speed": [1.0], "gear": 2})) in (0, 1)
    for wrong in ({"speed": [1.0]}, {"speed": [1.0], "gear": 9}, [1.0, 2]):
        with pytest.raises(SpaceError):
            policy.act(wrong)


def test_weights_of_other_spaces_are_refused() -> None:
    config = config_of("CartPole-v1")
    with pytest.raises(CheckpointError, match="got a checkpoint of plane"):
        DeployedPolicy(config, config.env_configs[0], {"learner": {"plane": {}}})
