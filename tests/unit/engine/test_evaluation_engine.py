from __future__ import annotations

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.evaluation_engine import EvaluationEngine, EvaluationResult, shared_out
from rlightning.env.group import EnvGroup
from rlightning.errors import EvaluationError
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import FakeLearner, FakeReplica


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def engine(runtime, *configs: EnvConfig, rollout_length: int = 5, **options) -> EvaluationEngine:
    environments = EnvGroup(runtime, TaskSubmitter(), configs, rollout_length, 0)
    replicas = {f"eval-{i}": FakeReplica(f"eval-{i}") for i in range(2)}
    bench = FakePool(runtime, replicas, RoutingConfig())
    learner = runtime.spawn(WorkerSpec("learner-0", FakeLearner))
    (kind,) = environments.kinds
    kinds = dict.fromkeys(environments.env_ids, kind)
    policies = PolicyGroup({kind: bench.pool}, kinds, learner, bench.submitter)
    return EvaluationEngine(environments, policies, **options)


def counting(num_envs: int, *lengths: list[int], **options) -> EnvConfig:
    """Sub-environment i plays episodes of `lengths[i]` steps, one after the other."""
    return EnvConfig(
        id="rlightning.testing.environments:CountingVector-v0",
        num_envs=num_envs,
        kwargs={"autoreset_mode": "SameStep", "lengths": lengths, "reuse_buffer": False},
        **options,
    )


def test_every_sub_environment_plays_its_share_and_returns_are_those_of_the_episodes(
    runtime,
) -> None:
    """Rewards are 1, 2, … so an episode of n steps returns n (n + 1) / 2."""
    result = engine(runtime, counting(2, [2, 3], [4])).run(4)
    assert result.lengths == (2, 3, 4, 4)
    assert result.returns == (3.0, 6.0, 10.0, 10.0)


def test_short_episodes_are_not_favoured(runtime) -> None:
    """One in two sub-environments plays episodes of 40 steps, the other of 1.

    The first ten episodes that end are nearly all short; the fair mean is (40 + 1) / 2.
    """
    result = engine(runtime, counting(2, [40], [1])).run(10)
    assert sorted(result.lengths) == [1] * 5 + [40] * 5
    assert result.mean_length == 20.5


def test_the_number_of_steps_asked_for_at_a_time_changes_nothing(runtime) -> None:
    config = counting(3, [7, 2], [5], [1, 9])
    results = []
    for rollout_length in (1, 4, 64):
        with InProcessRuntime(runtime.mode) as other:
            results.append(engine(other, config, rollout_length=rollout_length).run(7))
    assert results[0] == results[1] == results[2]
    assert results[0].num_episodes == 7


def test_several_workers_share_the_episodes(runtime) -> None:
    result = engine(runtime, counting(2, [1], [2], num_workers=3)).run(8)
    assert result.lengths == (1, 1, 2, 2, 1, 2, 1, 2)


@pytest.mark.parametrize("num_episodes", [0, -1])
def test_no_episodes_are_refused(runtime, num_episodes) -> None:
    with pytest.raises(EvaluationError, match="at least 1 episode"):
        engine(runtime, counting(1, [3])).run(num_episodes)


def test_an_episode_that_never_ends_is_an_error_also_beside_others_that_do(runtime) -> None:
    evaluation = engine(runtime, counting(2, [3], [10**9]), max_steps_per_episode=50)
    with pytest.raises(EvaluationError, match="within 50 steps, but env-0/1 goes on.*TimeLimit"):
        evaluation.run(4)


def test_shares_differ_by_one_at_most() -> None:
    assert shared_out(7, ["a", "b", "c"]) == {"a": 3, "b": 2, "c": 2}
    assert shared_out(2, ["a", "b", "c"]) == {"a": 1, "b": 1, "c": 0}


def test_a_result_knows_its_statistics() -> None:
    result = EvaluationResult((1.0, 2.0, 6.0), (10, 20, 30))
    assert (result.num_episodes, result.mean_return, result.mean_length) == (3, 3.0, 20.0)
    assert (result.min_return, result.max_return) == (1.0, 6.0)
    assert result.std_return == pytest.approx((14 / 3) ** 0.5)  # deviations -2, -1, 3
