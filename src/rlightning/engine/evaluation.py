"""Evaluating the weights that a learner's state holds, in environments of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rlightning.config.env_config import EnvConfig
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import AssemblyPlan, assemble
from rlightning.engine.evaluation_engine import (
    EvaluationEngine,
    EvaluationResult,
    check_num_episodes,
)
from rlightning.engine.run_state import check_kinds, restore_policies
from rlightning.errors import NoEvalPolicyError, WorkerDiedError

logger = logging.getLogger(__name__)

EVALUATION_SEED_OFFSET = 1_000_003
"""Added to the seed of a run, so that evaluations never see its training episodes."""

ROLLOUT_LENGTH = 64


def evaluation_seed(config: RunConfig) -> int:
    """Return the seed of a run's evaluations: one that its training never uses."""
    return config.seed + EVALUATION_SEED_OFFSET


def evaluate_weights(
    config: RunConfig,
    state: Mapping[str, Any],
    num_episodes: int,
    *,
    deterministic: bool = True,
    seed: int | None = None,
    on_hang: Callable[[str], object] | None = None,
) -> EvaluationResult:
    """Play whole episodes with the weights of a state, through router and replicas.

    An evaluation whose workers die begins anew with other workers and the same seed, as often as
    ``cluster.max_restarts`` says.

    Args:
        config: Of the run.
        state: As a checkpoint holds it; only the weights are used.
        num_episodes: Shared out equally over all sub-environments.
        deterministic: Take the most likely action instead of a random one.
        seed: Of the episodes; None takes one that the run's training never uses.
        on_hang: Called with a report before the watchdog ends the process.

    Raises:
        CheckpointError: If the state belongs to other environments.
        EvaluationError: If no episode is asked for, or one does not end.
        WorkerDiedError: If a worker dies that is needed, once more than may be.
        NoEvalPolicyError: If all replicas die, once more than may be.
    """
    check_num_episodes(num_episodes)
    plan = AssemblyPlan(
        env_configs=tuple(_evaluation_env(config, env, num_episodes) for env in config.env_configs),
        rollout_length=ROLLOUT_LENGTH,
        seed=evaluation_seed(config) if seed is None else seed,
        deterministic=deterministic,
        on_hang=on_hang,
        is_guest=True,
    )
    num_repeats = 0
    while True:
        try:
            result = _evaluated(config, plan, state, num_episodes)
        except (WorkerDiedError, NoEvalPolicyError) as error:
            if num_repeats == config.cluster.max_restarts:
                raise
            num_repeats += 1
            logger.warning("an evaluation has lost its workers and begins anew: %s", error)
        else:
            return replace(result, num_repeats=num_repeats)


def _evaluated(
    config: RunConfig, plan: AssemblyPlan, state: Mapping[str, Any], num_episodes: int
) -> EvaluationResult:
    with assemble(config, plan) as assembly:
        check_kinds(state, sorted(assembly.policies.pools))
        restore_policies(assembly.policies, state)
        assembly.policies.publish()
        return EvaluationEngine(assembly.environments, assembly.policies).run(num_episodes)


def _evaluation_env(config: RunConfig, env: EnvConfig, num_episodes: int) -> EnvConfig:
    num_envs = min(config.engine.evaluation_num_envs, num_episodes)
    return env.model_copy(update={"num_workers": 1, "num_envs": num_envs})
