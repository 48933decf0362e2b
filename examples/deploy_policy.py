"""Let a trained policy act outside of training.

Give a run as argument (its path, its name or `latest`); without one, the newest run is taken.
"""

import sys

import gymnasium

import rlightning


def main(run: str) -> None:
    """Play one episode and print its return."""
    policy = rlightning.load_policy(run)
    environment = gymnasium.make("CartPole-v1")
    observation, _ = environment.reset(seed=0)
    episode_return, is_over = 0.0, False
    while not is_over:
        action = policy.act(observation)
        observation, reward, terminated, truncated, _ = environment.step(action)
        episode_return += float(reward)
        is_over = terminated or truncated
    environment.close()
    print(f"return {episode_return}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "latest")
