"""Train PPO on CartPole for a moment, then let the policy act. The preset's full run is longer."""

import gymnasium

import rlightning

result = rlightning.train("cartpole-ppo", ["engine.total_env_steps=4_000"])
policy = rlightning.load_policy(result.run_folder)
observation, _ = gymnasium.make("CartPole-v1").reset(seed=0)
print(f"after {result.env_steps} steps the policy answers {policy.act(observation)}")
