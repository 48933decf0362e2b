"""What an update of PPO costs beside a plain one, and a replica's answer beside a bare forward.

The plain update is written the way single-file implementations are: one pair of networks,
`torch.distributions`, a loss per minibatch, scalars read as they come. Both have the same
networks, rows, epochs and minibatches, and take turns in the same run:

    python -m benchmarks.ppo_update
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from rlightning.algorithm.ppo import PPO
from rlightning.config.policy_config import PolicyConfig
from rlightning.config.ppo_config import PPOConfig
from rlightning.env.action_noise import draw_noise
from rlightning.env.space_kind import SpaceKind
from rlightning.policy.actor_critic import ActorCritic, create_actor_critic
from rlightning.policy.replica import PolicyReplica
from rlightning.testing.random_fragments import RandomFragments
from rlightning.types import ObservationBatch

NUM_STEPS, NUM_ENVS, NUM_ROUNDS = 32, 32, 30
KIND = SpaceKind(Box(-1.0, 1.0, (4,), np.float32), Discrete(2))
CONFIG = PPOConfig(learning_rate_schedule="constant")


class PlainAgent:
    """Actor, critic and Adam, updated in a straight line."""

    def __init__(self) -> None:
        self.actor, self.critic = _plain_mlp(2), _plain_mlp(1)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=CONFIG.learning_rate, eps=1e-5)

    def update(self, rows: list[Tensor]) -> None:
        """Run all epochs over rows: observation, action, log_prob, advantage, target."""
        index = np.arange(len(rows[0]))
        clipped_shares = []
        for _ in range(CONFIG.num_epochs):
            np.random.default_rng().shuffle(index)
            for start in range(0, len(index), CONFIG.minibatch_size):
                chosen = index[start : start + CONFIG.minibatch_size]
                clipped_shares.append(self._step(*(row[chosen] for row in rows)))

    def _step(self, observation: Tensor, action: Tensor, *others: Tensor) -> float:
        old_log_prob, advantage, target = others
        distribution: Any = torch.distributions.Categorical(logits=self.actor(observation))
        log_ratio: Tensor = distribution.log_prob(action) - old_log_prob
        ratio = log_ratio.exp()
        with torch.no_grad():
            ((ratio - 1) - log_ratio).mean().item()
            share = ((ratio - 1.0).abs() > CONFIG.clip_range).float().mean().item()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        limited = torch.clamp(ratio, 1 - CONFIG.clip_range, 1 + CONFIG.clip_range)
        policy_loss = torch.max(-advantage * ratio, -advantage * limited).mean()
        value_loss = 0.5 * ((self.critic(observation).view(-1) - target) ** 2).mean()
        loss: Any = policy_loss - 0.0 * distribution.entropy().mean() + value_loss
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 0.5)
        self.optimizer.step()
        return share


def _plain_mlp(num_outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, num_outputs)
    )


def compare(name: str, plain: Callable[[], object], ours: Callable[[], object]) -> None:
    """Print the median time of both and of their ratio, taking turns."""
    pairs = [(_seconds_of(plain), _seconds_of(ours)) for _ in range(NUM_ROUNDS)]
    plain_us, ours_us = (1e6 * statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(first / second for first, second in pairs)
    print(f"{name}: plain {plain_us:.0f} us, ours {ours_us:.0f} us, plain / ours {ratio:.2f}")


def _seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare_updates(policy: ActorCritic) -> None:
    """Compare whole updates of the same rows."""
    fragment = RandomFragments(NUM_STEPS, NUM_ENVS).collect(policy)
    columns = (fragment.observation, fragment.action, fragment.log_prob, fragment.value)
    rows = [torch.from_numpy(column.reshape(-1, *column.shape[2:])) for column in columns]
    rows.append(torch.ones(len(rows[0])))
    agent, algorithm = PlainAgent(), PPO(policy, CONFIG, seed=0)
    compare("update", lambda: agent.update(rows), lambda: algorithm.update([fragment], 0.0))


def compare_answers(policy: ActorCritic) -> None:
    """Compare a hundred answers with as many bare forwards of the same networks."""
    generator = np.random.default_rng(0)
    observation = generator.standard_normal((NUM_ENVS, 4), dtype=np.float32)
    noise = draw_noise(generator, KIND.action_space, (NUM_ENVS,))
    request, tensor = ObservationBatch("env-0", observation, noise), torch.from_numpy(observation)
    replica, agent = PolicyReplica(lambda: policy, "eval-0", device="cpu"), PlainAgent()

    def answer() -> None:
        for _ in range(100):
            replica.act([request])

    @torch.inference_mode()
    def forward() -> None:
        for _ in range(100):
            agent.actor(tensor)
            agent.critic(tensor)

    compare("100 answers", forward, answer)


def main() -> None:
    """Measure both."""
    torch.set_num_threads(1)
    compare_updates(create_actor_critic(KIND, PolicyConfig(), seed=0))
    compare_answers(create_actor_critic(KIND, PolicyConfig(), seed=0))


if __name__ == "__main__":
    main()
