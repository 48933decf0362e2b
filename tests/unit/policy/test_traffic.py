from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.policy_config import PolicyConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.env.worker import EnvWorker
from rlightning.metrics.node_traffic import NodeTraffic, home_share, num_nodes
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.policy.replica import PolicyReplica
from rlightning.policy.traffic import RequestBytes, Traffic
from rlightning.testing.environments import CountingEnv


class ChoosingEnv(CountingEnv):
    """Takes three choices at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.MultiDiscrete([2, 3, 4])


gymnasium.register("ChoosingOfTraffic-v0", entry_point=ChoosingEnv)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "ChoosingOfTraffic-v0"])
@pytest.mark.parametrize("num_envs", [1, 5])
def test_the_bytes_are_those_of_real_requests_and_answers(env_id: str, num_envs: int) -> None:
    worker = EnvWorker(EnvConfig(id=env_id, num_envs=num_envs), 0, 4, 0)
    try:
        kind = worker.kind()
        request = worker.reset()
    finally:
        worker.close()
    replica = PolicyReplica(lambda: create_actor_critic(kind, PolicyConfig(), 0), "eval-0", "cpu")
    (answer,) = replica.act([request])
    assert not isinstance(answer, Exception)
    size = RequestBytes.of(kind, num_envs)
    assert size.asked == request.observation.nbytes + request.noise.nbytes
    assert size.answered == sum(a.nbytes for a in (answer.action, answer.log_prob, answer.value))


def test_images_count_one_byte_for_each_number() -> None:
    spaces = gymnasium.spaces
    kind = SpaceKind(spaces.Box(0, 255, (4, 8, 8), np.uint8), spaces.Discrete(3))
    assert RequestBytes.of(kind, 2) == RequestBytes(2 * (256 + 4), 2 * (8 + 4 + 4))


@pytest.fixture
def traffic() -> Traffic:
    nodes = {"env-0": "a", "env-1": "b", "env-2": None}
    sizes = {"env-0": RequestBytes(100, 10), "env-1": RequestBytes(1000, 1)}
    return Traffic(nodes.__getitem__, {**sizes, "env-2": RequestBytes(1, 1)})


def test_requests_and_bytes_are_counted_by_the_two_nodes(traffic: Traffic) -> None:
    for env_id, node in (("env-0", "a"), ("env-0", "a"), ("env-0", "b"), ("env-1", "b")):
        traffic.sent(env_id, node)
    counts = traffic.take()
    assert counts == {
        ("a", "a"): NodeTraffic(2, 220),
        ("a", "b"): NodeTraffic(1, 110),
        ("b", "b"): NodeTraffic(1, 1001),
    }
    assert (home_share(counts), num_nodes(counts)) == (0.75, 2)
    assert traffic.take() == {}
    assert home_share({}) is None


def test_a_request_that_failed_brought_no_answer(traffic: Traffic) -> None:
    traffic.sent("env-0", "a")
    traffic.not_answered("env-0", "a")
    traffic.sent("env-0", "b")
    assert traffic.take() == {("a", "a"): NodeTraffic(1, 100), ("a", "b"): NodeTraffic(1, 110)}


def test_a_request_without_observations_counts_nowhere(traffic: Traffic) -> None:
    traffic.sent("env-0", "a")
    traffic.never_asked("env-0", "a")
    assert traffic.take() == {("a", "a"): NodeTraffic(0, 0)}


def test_who_has_no_known_node_is_counted_as_such(traffic: Traffic) -> None:
    traffic.sent("env-2", None)
    assert traffic.take() == {("unknown", "unknown"): NodeTraffic(1, 2)}
