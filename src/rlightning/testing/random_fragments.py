"""Fragments without an environment: random observations, and what a policy answers to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from rlightning.env.action_noise import draw_noise
from rlightning.policy.base import Policy
from rlightning.types import Array, Fragment


@dataclass(frozen=True, slots=True)
class RandomFragments:
    """Makes fragments for tests of algorithms.

    Args:
        num_steps: `T` of every fragment.
        num_envs: `B` of every fragment.
        end_probability: Chance of a step to be terminated, and likewise to be truncated.
        invalid_probability: Chance of a row to be spent on a reset.
    """

    num_steps: int = 16
    num_envs: int = 4
    end_probability: float = 0.05
    invalid_probability: float = 0.0

    def collect(self, policy: Policy, seed: int = 0, env_id: str = "env-0") -> Fragment:
        """Return a fragment that the policy acted in; equal seeds, equal fragments.

        Log-probabilities and values are the policy's own, so a first ratio is 1.
        """
        generator = np.random.default_rng(seed)
        shape = (self.num_steps, self.num_envs)
        observation = self._observations(policy, generator, (self.num_steps + 1, self.num_envs))
        noise = draw_noise(generator, policy.kind.action_space, shape)
        with torch.inference_mode():
            flat = torch.from_numpy(observation[:-1].reshape(-1, *observation.shape[2:]))
            output = policy.act(flat, torch.from_numpy(noise.reshape(-1, noise.shape[-1])))
        action, log_prob, value = (part.numpy().reshape(*shape, *part.shape[1:]) for part in output)
        terminated = generator.random(shape) < self.end_probability
        truncated = generator.random(shape) < self.end_probability
        final_index = np.argwhere(truncated & ~terminated)
        return Fragment(
            env_id=env_id,
            observation=observation[:-1],
            action=action,
            log_prob=log_prob,
            value=value,
            reward=generator.standard_normal(shape, dtype=np.float32),
            terminated=terminated,
            truncated=truncated,
            valid=generator.random(shape) >= self.invalid_probability,
            final_index=final_index,
            final_observation=self._observations(policy, generator, (len(final_index),)),
            last_observation=observation[-1],
            policy_version=np.zeros(self.num_steps, dtype=np.int64),
            episodes=(),
        )

    def _observations(
        self, policy: Policy, generator: np.random.Generator, shape: tuple[int, ...]
    ) -> Array:
        space = policy.kind.observation_space
        full_shape = (*shape, *space.shape)
        if space.dtype == np.uint8:
            return generator.integers(0, 256, full_shape, dtype=np.uint8)
        return generator.standard_normal(full_shape, dtype=np.float32)
