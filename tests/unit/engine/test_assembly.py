from __future__ import annotations

import threading
from collections import Counter

import gymnasium
import numpy as np
import pytest

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble
from rlightning.errors import EnvironmentFailedError, RLightningError, WorkerDiedError
from rlightning.testing.environments import CountingEnv
from rlightning.testing.eventually import eventually
from rlightning.types import ObservationBatch

WAIT_SECONDS = 30.0
CLOSED: list[str] = []


class ClosingEnv(CountingEnv):
    """Notes that it was closed, and may fail to close."""

    def __init__(self, fails_to_close: bool = False) -> None:
        super().__init__()
        self._fails_to_close = fails_to_close

    def close(self) -> None:
        CLOSED.append("closed")
        if self._fails_to_close:
            raise RuntimeError("the simulator does not close")


gymnasium.register("ClosingOfAssembly-v0", entry_point=ClosingEnv)


class RefusingPolicyError(RLightningError):
    pass


def config_of(env: object, *settings: str) -> RunConfig:
    base = {
        "env": env,
        "policy": {"hidden_sizes": [4], "num_eval_policies": 2},
        "algorithm": {"minibatch_size": 4},
        "engine": {"rollout_length": 4},
    }
    return load_config(base, list(settings))


CART_POLE = {"id": "CartPole-v1", "num_workers": 2, "num_envs": 2}
COUNTING = {"id": "rlightning.testing.environments:Counting-v0", "num_workers": 3, "num_envs": 2}
BOTH_MODES = pytest.mark.parametrize("mode", ["cluster.mode=inline", "cluster.mode=threads"])


def assembled(config: RunConfig, **changes) -> Assembly:
    plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed, **changes)
    return assemble(config, plan)


def collect(assembly: Assembly, num_rounds: int = 4) -> None:
    assembly.policies.publish()
    assembly.environments.reset()
    for _ in range(num_rounds):
        for env_id, observation in assembly.environments.observations():
            assembly.environments.step(env_id, assembly.policies.act(env_id, observation))


@BOTH_MODES
def test_all_parts_of_a_run_work_together(mode) -> None:
    with assembled(config_of(CART_POLE, mode)) as assembly:
        collect(assembly)
        report = assembly.policies.update(assembly.environments.take_fragments(), 0.0)
        assert report.num_steps == 16
        assert report.policy_versions == (0,)
        assert assembly.ledger.loads(["eval-0", "eval-1", "env-0", "env-1"]) == [0, 0, 0, 0]
        handles = [*assembly.environments.handles(), *assembly.policies.handles()]
    assert not any(handle.is_alive() for handle in handles)


@BOTH_MODES
@pytest.mark.parametrize("routing", ["sync", "async"])
def test_B65_each_kind_of_environment_has_a_pool_of_its_own_and_no_task_crosses(
    mode, routing
) -> None:
    settings = [mode, f"routing.mode={routing}", "routing.tie_break=rotating"]
    with assembled(config_of([CART_POLE, COUNTING], *settings)) as assembly:
        collect(assembly)
        fragments = [task.result(WAIT_SECONDS) for task in assembly.environments.take_fragments()]
        assert [part.observation.shape[-1] for part in fragments] == [4, 4, 1, 1, 1]
        tasks = assembly.policies.take_task_counts()
        pools = assembly.policies.pools
        assert list(pools) == list(assembly.environments.kinds)
        cart_pole, counting = (list(pool.loads()) for pool in pools.values())
        assert (cart_pole, counting) == (["eval-0", "eval-1"], ["eval-2", "eval-3"])
        by_replica: Counter[str] = Counter()
        for (env_id, replica_id), count in tasks.items():
            own = cart_pole if env_id in ("env-0", "env-1") else counting
            assert replica_id in own, "no task crosses kinds"
            by_replica[replica_id] += count
        # Two workers and four rounds are eight requests; three workers are twelve.
        assert sum(by_replica[name] for name in cart_pole) == 8
        assert sum(by_replica[name] for name in counting) == 12
        if mode.endswith("inline"):
            assert by_replica == {"eval-0": 4, "eval-1": 4, "eval-2": 6, "eval-3": 6}


@BOTH_MODES
def test_B44_an_environment_worker_that_dies_fails_its_calls_and_leaves_no_load(mode) -> None:
    with assembled(config_of(CART_POLE, mode)) as assembly:
        assembly.policies.publish()
        assembly.environments.reset()
        assembly.environments.handles()[1].kill()
        with pytest.raises(WorkerDiedError, match="'env-1'"):
            for _ in range(4):
                for env_id, observation in assembly.environments.observations():
                    assembly.environments.step(env_id, assembly.policies.act(env_id, observation))
        assert assembly.ledger.load("env-1") == 0
        eventually(lambda: assembly.policies.loads() == {"eval-0": 0, "eval-1": 0})
        (pool,) = assembly.policies.pools.values()
        assert pool.error_counts() == {}, "replicas are not blamed"


def test_deterministic_replicas_answer_the_same_whatever_the_noise() -> None:
    env = {"id": "Pendulum-v1", "num_envs": 2}
    actions = []
    for seed in (1, 2):
        config = config_of(env, f"seed={seed}")
        plan = AssemblyPlan(config.env_configs, 4, seed, deterministic=True)
        with assemble(config.model_copy(update={"seed": 0}), plan) as assembly:
            assembly.policies.publish()
            noise = np.full((2, 1), seed, dtype=np.float32)
            request = ObservationBatch("env-0", np.ones((2, 3), np.float32), noise)
            handle = assembly.policies.handles()[0]
            actions.append(handle.call("act", request).result(WAIT_SECONDS).action)
    assert (actions[0] == actions[1]).all()


@BOTH_MODES
def test_what_was_started_is_taken_down_when_another_part_cannot_be_built(
    mode, monkeypatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise RefusingPolicyError("no such network")

    CLOSED.clear()
    monkeypatch.setattr("rlightning.engine.assembly.create_actor_critic", refuse)
    threads_before = threading.active_count()
    config = config_of({"id": "ClosingOfAssembly-v0", "num_envs": 2}, mode)
    with pytest.raises(RefusingPolicyError, match="no such network"):
        assembled(config)
    assert len(CLOSED) == 2
    assert threading.active_count() <= threads_before


@BOTH_MODES
def test_an_environment_that_cannot_be_made_leaves_nothing_running(mode) -> None:
    threads_before = threading.active_count()
    with pytest.raises(RLightningError, match="CartPole-v1"):
        assembled(config_of({"id": "CartPol-v1"}, mode))
    assert threading.active_count() <= threads_before


@BOTH_MODES
def test_an_error_of_closing_is_told(mode) -> None:
    config = config_of(
        {"id": "ClosingOfAssembly-v0", "num_envs": 2, "kwargs": {"fails_to_close": True}}, mode
    )
    with pytest.raises(EnvironmentFailedError, match="the simulator does not close"):
        with assembled(config):
            pass


@BOTH_MODES
def test_an_error_of_closing_does_not_hide_the_error_of_the_run(mode) -> None:
    config = config_of(
        {"id": "ClosingOfAssembly-v0", "num_envs": 2, "kwargs": {"fails_to_close": True}}, mode
    )
    with pytest.raises(ValueError, match="the run failed") as caught:
        with assembled(config):
            raise ValueError("the run failed")
    assert "while closing: " in caught.value.__notes__[0]
    assert "the simulator does not close" in caught.value.__notes__[0]
