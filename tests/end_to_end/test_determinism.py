"""Same seed, same weights: bit for bit inline, whatever the number of replicas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import rlightning
from rlightning.engine.checkpoint import CheckpointStore

SMALL = [
    "engine.total_env_steps=1_024",
    "engine.rollout_length=32",
    "engine.final_evaluation_episodes=0",
    "algorithm.minibatch_size=64",
    "algorithm.num_epochs=2",
    "policy.normalize_observations=true",
    "algorithm.normalize_rewards=true",
    "logging.live=off",
    "logging.tensorboard=false",
]


def final_learner_state(folder: Path, *overrides: str, preset: str = "cartpole-ppo") -> Any:
    settings = [*SMALL, f"logging.folder={folder}", *overrides]
    result = rlightning.train(preset, settings)
    return CheckpointStore(result.run_folder / "checkpoints").load_latest()["learner"]


def assert_equal_bit_for_bit(one: Any, other: Any, where: str = "state") -> None:
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            assert_equal_bit_for_bit(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype, where
        assert torch.equal(one, other), where
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for position, pair in enumerate(zip(one, other, strict=True)):
            assert_equal_bit_for_bit(*pair, f"{where}[{position}]")
    else:
        assert one == other, where


@pytest.mark.parametrize("preset", ["cartpole-ppo", "pendulum-ppo"])
def test_the_same_seed_gives_the_same_weights_twice(tmp_path: Path, preset: str) -> None:
    first = final_learner_state(tmp_path / "first", preset=preset)
    torch.manual_seed(12345)  # the state of the global generator must not matter
    second = final_learner_state(tmp_path / "second", preset=preset)
    assert_equal_bit_for_bit(first, second)


@pytest.mark.parametrize("num_replicas", [2, 4])
@pytest.mark.parametrize("router", ["simple", "node_affinity"])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_number_of_replicas_and_the_router_change_no_weight(
    tmp_path: Path, num_replicas: int, router: str, mode: str
) -> None:
    alone = final_learner_state(tmp_path / "alone", "policy.num_eval_policies=1")
    together = final_learner_state(
        tmp_path / "together",
        f"policy.num_eval_policies={num_replicas}",
        f"routing.type={router}",
        f"routing.mode={mode}",
        "env.num_workers=2",
    )
    assert_equal_bit_for_bit(alone, together)


def test_another_seed_gives_other_weights(tmp_path: Path) -> None:
    first = final_learner_state(tmp_path / "first", "seed=0")
    second = final_learner_state(tmp_path / "second", "seed=1")
    with pytest.raises(AssertionError):
        assert_equal_bit_for_bit(first, second)


def test_threads_train_to_the_same_weights_up_to_rounding(tmp_path: Path) -> None:
    """One minibatch and one epoch per iteration, so that rounding has no time to grow."""
    few = ["engine.total_env_steps=256", "algorithm.num_epochs=1", "algorithm.minibatch_size=256"]
    inline = final_learner_state(tmp_path / "inline", *few)
    threads = final_learner_state(tmp_path / "threads", *few, "cluster.mode=threads")
    (kind,) = inline
    for name, weights in inline[kind]["policy"].items():
        other = threads[kind]["policy"][name]
        assert torch.allclose(weights, other, rtol=1e-3, atol=1e-5), name
