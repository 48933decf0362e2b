from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

from rlightning.algorithm.learner import Learner
from rlightning.config.policy_config import PolicyConfig
from rlightning.env.space_kind import SpaceKind
from rlightning.policy.actor_critic import create_actor_critic
from rlightning.testing.random_fragments import RandomFragments
from rlightning.types import EpisodeRecord, Fragment

KIND = SpaceKind(Box(-1.0, 1.0, (3,), np.float32), Discrete(2))
POLICY = create_actor_critic(KIND, PolicyConfig(hidden_sizes=(4,)), 0)


class Counter:
    """An algorithm that counts what it is given."""

    def __init__(self) -> None:
        self.policy = create_actor_critic(KIND, PolicyConfig(hidden_sizes=(4,)), 0)
        self.seen: list[tuple[int, float]] = []
        self.num_restarts = 0

    def update(self, fragments: Sequence[Fragment], progress: float) -> dict[str, float]:
        self.seen.append((len(fragments), progress))
        with torch.no_grad():
            for parameter in self.policy.parameters():
                parameter.add_(1.0)
        return {"num_fragments": float(len(fragments))}

    def state_dict(self) -> dict[str, Any]:
        return {"seen": len(self.seen)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.seen = [(0, 0.0)] * state["seen"]

    def start_new_episodes(self) -> None:
        self.num_restarts += 1


class Bench:
    def __init__(self, *kinds: str) -> None:
        self.algorithms: dict[str, Counter] = {kind: Counter() for kind in kinds}
        factories = {kind: lambda kind=kind: self.algorithms[kind] for kind in kinds}
        self.learner = Learner(factories)


def fragment(version: int = 0, **changes: Any) -> Fragment:
    collected = RandomFragments(num_steps=4, num_envs=2).collect(POLICY)
    versions = np.full(4, version, dtype=np.int64)
    return replace(collected, policy_version=versions, **changes)


def test_with_one_kind_metrics_have_plain_names() -> None:
    bench = Bench("boat")
    report = bench.learner.update(0.5, ["boat", "boat"], fragment(), fragment())
    assert report.metrics == {"num_fragments": 2.0}
    assert bench.algorithms["boat"].seen == [(2, 0.5)]


def test_with_several_kinds_each_gets_its_own_fragments_and_metrics() -> None:
    bench = Bench("boat", "car")
    kinds = ["boat", "car", "boat"]
    report = bench.learner.update(0.0, kinds, fragment(), fragment(), fragment())
    assert report.metrics == {"boat/num_fragments": 2.0, "car/num_fragments": 1.0}


def test_a_kind_without_fragments_is_not_updated() -> None:
    bench = Bench("boat", "car")
    bench.learner.update(0.0, ["car"], fragment())
    assert bench.algorithms["boat"].seen == []


def test_the_report_tells_what_the_update_was_made_of() -> None:
    bench = Bench("boat")
    ended = EpisodeRecord("env-0/1", 3.0, 4, terminated=True)
    valid = np.array([[True, True]] * 3 + [[True, False]])
    parts = [fragment(7, episodes=(ended,), valid=valid), fragment(6)]
    report = bench.learner.update(0.0, ["boat", "boat"], *parts)
    assert report.episodes == (ended,)
    assert report.num_steps == 7 + 8, "a row spent on a reset is no step"
    assert report.policy_versions == (6, 7)


def test_a_kind_must_be_named_for_every_fragment() -> None:
    with pytest.raises(ValueError, match="zip"):
        Bench("boat").learner.update(0.0, ["boat"], fragment(), fragment())


def test_versions_of_each_kind_grow_by_one() -> None:
    learner = Bench("boat", "car").learner
    assert [learner.publish("boat").version for _ in range(3)] == [0, 1, 2]
    assert learner.publish("car").version == 0


def test_what_was_published_stays_as_it_was() -> None:
    bench = Bench("boat")
    snapshot = bench.learner.publish("boat")
    before = {name: tensor.clone() for name, tensor in snapshot.state.items()}
    bench.learner.update(0.0, ["boat"], fragment())
    assert all(torch.equal(snapshot.state[name], before[name]) for name in before)


def test_a_restored_learner_goes_on_with_weights_versions_and_new_episodes() -> None:
    trained = Bench("boat", "car")
    trained.learner.update(0.0, ["boat"], fragment())
    for _ in range(3):
        trained.learner.publish("boat")
    state = trained.learner.state_dict()
    fresh = Bench("boat", "car")
    fresh.learner.publish("boat")
    fresh.learner.load_state_dict(state)
    boat, restored = trained.algorithms["boat"], fresh.algorithms["boat"]
    for name, tensor in boat.policy.state_dict().items():
        assert torch.equal(restored.policy.state_dict()[name], tensor)
    assert (len(restored.seen), restored.num_restarts) == (1, 1)
    assert fresh.learner.publish("boat").version == 3
    assert fresh.learner.publish("car").version == 0
