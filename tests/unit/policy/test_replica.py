"""A replica answers under the newest weights, stamps their version, and isolates bad requests."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

from rlightning.config.policy_config import PolicyConfig
from rlightning.env.action_noise import draw_noise
from rlightning.env.space_kind import SpaceKind
from rlightning.errors import NotFiniteError, ShapeError, WeightsError
from rlightning.policy.actor_critic import ActorCritic, create_actor_critic
from rlightning.policy.base import ActionOutput
from rlightning.policy.replica import PolicyReplica
from rlightning.runtime.gathered import gather_rule_of
from rlightning.types import ObservationBatch
from rlightning.weights.publisher import Publisher

KIND = SpaceKind(Box(-1.0, 1.0, (3,), np.float32), Discrete(4))
GAUSSIAN_KIND = SpaceKind(Box(-1.0, 1.0, (3,), np.float32), Box(-1.0, 1.0, (2,), np.float32))


def create_policy(kind: SpaceKind = KIND, seed: int = 0) -> ActorCritic:
    return create_actor_critic(kind, PolicyConfig(), seed)


def create_replica(kind: SpaceKind = KIND, **options: bool) -> PolicyReplica:
    return PolicyReplica(lambda: create_policy(kind), "eval-0", "cpu", **options)


def request(seed: int = 0, num_envs: int = 5, kind: SpaceKind = KIND) -> ObservationBatch:
    generator = np.random.default_rng(seed)
    observation = generator.standard_normal((num_envs, 3), dtype=np.float32)
    noise = draw_noise(generator, kind.action_space, (num_envs,))
    return ObservationBatch(f"env-{seed}", observation, noise)


@pytest.mark.parametrize("kind", [KIND, GAUSSIAN_KIND])
def test_an_answer_carries_what_the_policy_says(kind):
    asked = request(kind=kind)
    (answer,) = create_replica(kind).act([asked])
    expected = create_policy(kind).act(
        torch.from_numpy(asked.observation), torch.from_numpy(asked.noise)
    )
    np.testing.assert_array_equal(answer.action, expected.action.detach().numpy())
    np.testing.assert_array_equal(answer.log_prob, expected.log_prob.detach().numpy())
    np.testing.assert_array_equal(answer.value, expected.value.detach().numpy())
    assert (answer.env_id, answer.replica_id, answer.policy_version) == ("env-0", "eval-0", -1)


def test_calls_that_wait_together_are_gathered():
    assert gather_rule_of(PolicyReplica.act) is not None


def test_requests_answered_together_equal_those_answered_alone():
    replica = create_replica()
    requests = [request(seed, num_envs=seed + 1) for seed in range(4)]
    together = replica.act(requests)
    for asked, answer in zip(requests, together, strict=True):
        (alone,) = replica.act([asked])
        assert answer.env_id == asked.env_id
        np.testing.assert_array_equal(answer.action, alone.action)
        np.testing.assert_allclose(answer.log_prob, alone.log_prob, atol=1e-5)
        np.testing.assert_allclose(answer.value, alone.value, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"observation": np.zeros((5, 4), np.float32)}, ShapeError, r"shape \(3,\).*\(5, 4\)"),
        ({"observation": np.zeros((5, 3))}, ShapeError, "float32, got .* float64 from env-1"),
        ({"observation": np.zeros((0, 3), np.float32)}, ShapeError, "at least one"),
        ({"observation": np.float32(1.0)}, ShapeError, "at least one"),
        ({"observation": np.full((5, 3), np.nan, np.float32)}, NotFiniteError, "env-1"),
        ({"observation": np.full((5, 3), np.inf, np.float32)}, NotFiniteError, "env-1"),
        ({"noise": np.zeros((4, 1), np.float32)}, ShapeError, r"noise of shape \(5, 1\)"),
        ({"noise": np.zeros((5, 1))}, ShapeError, "float32, got .* float64"),
    ],
)
def test_a_bad_request_is_its_callers_error_only(change, error, message):
    replica = create_replica()
    good, other = request(0), request(2)
    first, fault, last = replica.act([good, replace(request(1), **change), other])
    assert isinstance(fault, error)
    with pytest.raises(error, match=message):
        raise fault
    np.testing.assert_array_equal(first.action, replica.act([good])[0].action)
    np.testing.assert_array_equal(last.action, replica.act([other])[0].action)


def test_only_bad_requests_run_no_forward():
    bad = replace(request(), noise=np.zeros((1, 1), np.float32))
    faults = create_replica().act([bad, bad])
    assert [type(fault) for fault in faults] == [ShapeError, ShapeError]


def test_observations_that_cannot_be_written_are_answered():
    asked = request()
    asked.observation.flags.writeable = False
    assert create_replica().act([asked])[0].action.shape == (5,)


def test_a_deterministic_replica_answers_the_most_likely_action():
    replica = create_replica(GAUSSIAN_KIND, deterministic=True)
    asked = request(kind=GAUSSIAN_KIND)
    (first,) = replica.act([asked])
    (second,) = replica.act([replace(asked, noise=asked.noise + 1.0)])
    np.testing.assert_array_equal(first.action, second.action)


def test_weights_that_became_nan_answer_nothing():
    replica, source = create_replica(), create_policy()
    with torch.no_grad():
        source.value_head.bias.fill_(torch.nan)
    replica.set_weights(Publisher(3).publish(source))
    with pytest.raises(NotFiniteError, match="policy version 3, got NaN or infinity from eval-0"):
        replica.act([request()])


@pytest.mark.parametrize("kind", [KIND, GAUSSIAN_KIND])
def test_actors_that_became_nan_answer_nothing(kind):
    replica, source = create_replica(kind), create_policy(kind)
    with torch.no_grad():
        source.action_head.linear.bias.fill_(torch.nan)
    replica.set_weights(Publisher().publish(source))
    with pytest.raises(NotFiniteError):
        replica.act([request(kind=kind)])


def test_B67_a_busy_replica_uses_the_newest_weights_in_its_next_forward():
    replica, publisher, source = create_replica(), Publisher(5), create_policy(seed=1)
    for _ in range(3):
        with torch.no_grad():
            source.value_head.bias.add_(1.0)
        version = replica.set_weights(publisher.publish(source))
    (answer,) = replica.act([request()])
    expected = source.value(torch.from_numpy(request().observation)).detach().numpy()
    assert answer.policy_version == version == replica.policy_version() == 7
    np.testing.assert_array_equal(answer.value, expected)


def test_B68_every_replica_follows_the_learner_within_one_publication():
    replicas = [create_replica() for _ in range(3)]
    publisher, source = Publisher(), create_policy()
    (start,) = replicas[0].act([request()])
    for step in range(1, 4):
        with torch.no_grad():
            source.value_head.bias.add_(1.0)
        snapshot = publisher.publish(source)
        for replica in replicas:
            replica.set_weights(snapshot)
            (answer,) = replica.act([request()])
            np.testing.assert_allclose(answer.value, start.value + step, atol=1e-5)


def test_weights_older_than_those_in_use_are_refused():
    replica, source = create_replica(), create_policy()
    old, new = Publisher(1).publish(source), Publisher(2).publish(source)
    replica.set_weights(new)
    with pytest.raises(WeightsError, match="never go backwards"):
        replica.set_weights(old)
    assert replica.policy_version() == 2


class PausingPolicy(ActorCritic):
    """Stops in the middle of a forward until it is told to go on."""

    def __init__(self) -> None:
        super().__init__(KIND, PolicyConfig())
        self.has_started, self.may_go_on = threading.Event(), threading.Event()

    def act(self, observation, noise, deterministic=False) -> ActionOutput:
        self.has_started.set()
        assert self.may_go_on.wait(timeout=10.0)
        return super().act(observation, noise, deterministic)


def test_B71_the_stamp_is_the_version_that_computed_the_action():
    policy = PausingPolicy()
    replica = PolicyReplica(lambda: policy, "eval-0", "cpu")
    snapshot = Publisher(9).publish(policy)
    answers: list[object] = []
    forward = threading.Thread(target=lambda: answers.extend(replica.act([request()])))
    sync = threading.Thread(target=lambda: replica.set_weights(snapshot))
    forward.start()
    assert policy.has_started.wait(timeout=10.0)
    sync.start()
    policy.may_go_on.set()
    forward.join(timeout=10.0)
    sync.join(timeout=10.0)
    assert answers[0].policy_version == -1
    assert replica.act([request()])[0].policy_version == 9
