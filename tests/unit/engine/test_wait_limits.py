from __future__ import annotations

from rlightning.config.loading import load_config
from rlightning.engine.wait_limits import WaitLimits

SETTINGS = [
    "env.timeout_seconds=50",
    "routing.timeout_seconds=20",
    "policy.num_eval_policies=3",
    "cluster.start_timeout_seconds=7",
    "cluster.restart_backoff_seconds=2",
]


def limits(*settings: str) -> WaitLimits:
    config = load_config("cartpole-ppo", [*SETTINGS, *settings])
    policies = config.policy.num_eval_policies
    return WaitLimits.of(config.cluster, config.env_configs, config.routing, policies)


def test_in_one_process_a_wait_is_as_long_as_a_call() -> None:
    assert limits() == WaitLimits(env_seconds=50.0, replica_seconds=20.0)


def test_on_ray_a_wait_outlasts_an_environment_then_every_replica_then_three_starts() -> None:
    longest = 50.0 + 3 * 20.0 + 3 * (7.0 + 20.0) + 3 * 2.0
    assert limits("cluster.backend=ray") == WaitLimits(longest, longest)
