"""Proximal policy optimisation (Schulman et al. 2017, arXiv:1707.06347)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from rlightning.algorithm import losses
from rlightning.algorithm.advantages import advantages_of, bootstrap_values
from rlightning.algorithm.base import Algorithm
from rlightning.algorithm.finite_checks import check_arrays, check_fragments, check_weights
from rlightning.algorithm.flat_parameters import FlatParameters
from rlightning.algorithm.reward_scaling import RewardScaling
from rlightning.algorithm.step_log import StepLog, StepMeasures
from rlightning.buffer.rollout import Minibatch, RolloutBatch
from rlightning.config.algorithm_config import AlgorithmConfig
from rlightning.config.ppo_config import PPOConfig, ScheduleName
from rlightning.policy.base import Policy
from rlightning.types import Array, Fragment

KL_TOLERANCE = 1.5
"""An update ends when the divergence exceeds `target_kl` this many times."""


class PPO(Algorithm):
    """Several epochs of clipped gradient steps on what the present policy collected.

    Two updates from equal weights, states and fragments give equal weights, bit for bit. The
    global random state is not used.

    Args:
        policy: What is improved.
        config: See `PPOConfig`, where each setting has its default and its source.
        seed: Of the order of the minibatches.
    """

    config_model: ClassVar[type[AlgorithmConfig]] = PPOConfig

    def __init__(self, policy: Policy, config: PPOConfig, seed: int) -> None:
        super().__init__(policy, config, seed)
        self._config = config
        self._parameters = FlatParameters(policy)
        self._optimizer = torch.optim.Adam(
            [self._parameters.weights], config.learning_rate, eps=config.adam_epsilon, fused=True
        )
        self._generator = torch.Generator().manual_seed(seed)
        self._reward_scaling = RewardScaling(
            policy.reward_moments, config.discount, config.reward_clip
        )

    def update(self, fragments: Sequence[Fragment], progress: float) -> dict[str, float]:
        """Improve the policy and return metrics; see `Algorithm.update`.

        The observation statistics move after the last gradient step, so that the first one
        sees the probabilities under which the actions were drawn.
        """
        config = self._config
        learning_rate = _annealed(config.learning_rate, config.learning_rate_schedule, progress)
        clip_range = _annealed(config.clip_range, config.clip_range_schedule, progress)
        check_fragments(fragments)
        rollout = self._create_rollout(fragments)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        metrics = self._run_epochs(rollout, clip_range)
        check_weights(self._parameters.weights)
        self.policy.update_statistics(rollout.rows.observation)
        explained = losses.explained_variance(rollout.rows.value, rollout.rows.value_target)
        return metrics | {
            "explained_variance": float(explained),
            "learning_rate": learning_rate,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return optimiser, generator and unfinished returns; see `Algorithm`."""
        return {
            "optimizer": copy.deepcopy(self._optimizer.state_dict()),
            "generator": self._generator.get_state(),
            "reward_scaling": self._reward_scaling.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned."""
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self._generator.set_state(state["generator"])
        self._reward_scaling.load_state_dict(state["reward_scaling"])

    def start_new_episodes(self) -> None:
        """Let the discounted return of every sub-environment start at 0."""
        self._reward_scaling.start_new_episodes()

    def _create_rollout(self, fragments: Sequence[Fragment]) -> RolloutBatch:
        config = self._config
        rewards: Sequence[Array] = [fragment.reward for fragment in fragments]
        if config.normalize_rewards:
            rewards = self._reward_scaling.scaled(fragments)
        bootstraps = bootstrap_values(self.policy, fragments)
        check_arrays("value", fragments, (bootstrap.final for bootstrap in bootstraps))
        check_arrays("value", fragments, (bootstrap.last for bootstrap in bootstraps))
        advantages = [
            advantages_of(fragment, reward, bootstrap, config.discount, config.gae_lambda)
            for fragment, reward, bootstrap in zip(fragments, rewards, bootstraps, strict=True)
        ]
        check_arrays("advantage", fragments, advantages)
        value_targets = [
            advantage + fragment.value
            for advantage, fragment in zip(advantages, fragments, strict=True)
        ]
        return RolloutBatch(fragments, advantages, value_targets, self.policy.device)

    def _run_epochs(self, rollout: RolloutBatch, clip_range: float) -> dict[str, float]:
        config = self._config
        log = StepLog(clip_range)
        for _ in range(config.num_epochs):
            for minibatch in rollout.minibatches(self._generator, config.minibatch_size):
                self._step(minibatch, clip_range, log)
            divergence = log.close_epoch()
            if config.target_kl is not None and divergence > KL_TOLERANCE * config.target_kl:
                break
        return log.metrics()

    def _step(self, minibatch: Minibatch, clip_range: float, log: StepLog) -> None:
        config = self._config
        advantage = minibatch.advantage
        if config.normalize_advantages:
            advantage = losses.normalized(advantage)
        judged = self.policy.evaluate_actions(minibatch.observation, minibatch.action)
        log_ratio = judged.log_prob - minibatch.log_prob
        policy_loss = losses.clipped_surrogate(log_ratio, advantage, clip_range)
        value_loss = self._value_loss(judged.value, minibatch)
        entropy = judged.entropy.mean()
        loss = policy_loss + config.value_coefficient * value_loss
        if config.entropy_coefficient > 0:
            loss = loss - config.entropy_coefficient * entropy
        self._parameters.zero_gradient()
        loss.backward()  # type: ignore[no-untyped-call]
        gradient_norm = self._parameters.clip_gradient(config.max_gradient_norm)
        self._optimizer.step()
        log.add(StepMeasures(policy_loss, value_loss, entropy, gradient_norm), log_ratio)

    def _value_loss(self, value: Tensor, minibatch: Minibatch) -> Tensor:
        clip_range = self._config.clip_range_value
        if clip_range is None:
            return losses.squared_value_error(value, minibatch.value_target)
        return losses.clipped_value_error(
            value, minibatch.value_target, minibatch.value, clip_range
        )


def _annealed(start: float, schedule: ScheduleName, progress: float) -> float:
    return start * (1.0 - progress) if schedule == "linear" else start
