"""Train with an algorithm of your own: one gradient step on the advantages of each iteration."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from pydantic import Field

import rlightning
from rlightning.algorithm.advantages import advantages_of, bootstrap_values
from rlightning.algorithm.base import Algorithm
from rlightning.buffer.rollout import RolloutBatch
from rlightning.config.algorithm_config import AlgorithmConfig
from rlightning.policy.base import Policy
from rlightning.types import Fragment


class PolicyGradientConfig(AlgorithmConfig):
    """Settings that stand beside `algorithm.name`."""

    learning_rate: float = Field(0.01, gt=0, description="Step size of Adam.")


class PolicyGradient(Algorithm):
    """Follows the gradient of the expected return."""

    config_model = PolicyGradientConfig

    def __init__(self, policy: Policy, config: PolicyGradientConfig, seed: int) -> None:
        super().__init__(policy, config, seed)
        self._optimizer = torch.optim.Adam(policy.parameters(), config.learning_rate)

    def update(self, fragments: Sequence[Fragment], progress: float) -> dict[str, float]:
        """Improve the policy and return metrics."""
        ends = bootstrap_values(self.policy, fragments)
        pairs = zip(fragments, ends, strict=True)
        advantages = [advantages_of(part, part.reward, end, 0.98, 0.95) for part, end in pairs]
        targets = [each + part.value for each, part in zip(advantages, fragments, strict=True)]
        rows = RolloutBatch(fragments, advantages, targets, self.policy.device).rows
        judged = self.policy.evaluate_actions(rows.observation, rows.action)
        value_loss = (judged.value - rows.value_target).square().mean()
        loss = value_loss / 2 - (judged.log_prob * rows.advantage).mean()
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return {"policy_loss": loss.item()}

    def state_dict(self) -> dict[str, Any]:
        """Return what goes into a checkpoint beside the policy."""
        return {"optimizer": self._optimizer.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._optimizer.load_state_dict(state["optimizer"])


if __name__ == "__main__":
    settings = ["algorithm.name=own_algorithm:PolicyGradient", "engine.total_env_steps=4_000"]
    result = rlightning.train("cartpole-ppo", settings)
    print(f"mean return {rlightning.evaluate(result.run_folder, episodes=20).mean_return}")
