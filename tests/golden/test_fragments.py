"""Fragments worked out by hand, for every autoreset mode.

A counting environment shows ``100 * episode + step`` and rewards step n of an episode with n.
Sub-environment 0 plays episodes of 2 steps, which are terminated, truncated, both, in turn.
Sub-environment 1 plays episodes of 3 steps, which are truncated.

What they show when they reset within the step that ends an episode (T = 6):

    step        0    1    2    3    4    5   after
    env 0     100  101  200  201  300  301   400      ends: t=1 terminated, t=3 truncated (202),
    env 1     100  101  102  200  201  202   300            t=5 both; env 1: t=2, t=5 truncated

What they show when the step after an episode's end is spent on the reset (x: such a step):

    step        0    1    2    3    4    5   after
    env 0     100  101  102x 200  201  202x  300      ends: t=1 terminated, t=4 truncated (202)
    env 1     100  101  102  103x 200  201   202      ends: t=2 truncated (103)
"""

from __future__ import annotations

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.env.worker import EnvWorker
from rlightning.types import ActionBatch, EpisodeRecord, Fragment

NUM_STEPS = 6
LENGTHS = [[2], [3]]
ENDS = [["terminated", "truncated", "both"], ["truncated"]]


def _worker(mode: str, *, reuse_buffer: bool = True, rollout_length: int = NUM_STEPS) -> EnvWorker:
    config = EnvConfig(
        id="rlightning.testing.environments:CountingVector-v0",
        num_envs=2,
        kwargs={
            "autoreset_mode": mode,
            "lengths": LENGTHS,
            "ends": ENDS,
            "reuse_buffer": reuse_buffer,
        },
    )
    return EnvWorker(config, worker_index=3, rollout_length=rollout_length, seed=0)


def _answer(step: int) -> ActionBatch:
    return ActionBatch(
        env_id="env-3",
        action=np.array([step % 2, 1 - step % 2]),
        log_prob=np.array([-step, -step - 0.5], dtype=np.float32),
        value=np.array([10 * step, 10 * step + 1], dtype=np.float32),
        policy_version=step,
        replica_id="eval-0",
    )


def _fragments(worker: EnvWorker, num_fragments: int, num_steps: int = NUM_STEPS) -> list[Fragment]:
    worker.reset()
    fragments = []
    for _ in range(num_fragments):
        for step in range(num_steps):
            worker.step(_answer(step))
        fragments.append(worker.take_fragment())
    worker.close()
    return fragments


def _columns(array: np.ndarray) -> list[list[float]]:
    return array.reshape(array.shape[0], 2).T.tolist()


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_a_fragment_of_same_step_resets(mode: str) -> None:
    (fragment,) = _fragments(_worker(mode), 1)

    assert _columns(fragment.observation) == [
        [100, 101, 200, 201, 300, 301],
        [100, 101, 102, 200, 201, 202],
    ]
    assert fragment.last_observation.tolist() == [[400], [300]]
    assert _columns(fragment.reward) == [[1, 2, 1, 2, 1, 2], [1, 2, 3, 1, 2, 3]]
    assert _columns(fragment.terminated) == [[0, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]]
    assert _columns(fragment.truncated) == [[0, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1]]
    assert fragment.valid.all()
    assert fragment.final_index.tolist() == [[2, 1], [3, 0], [5, 1]]
    assert fragment.final_observation.tolist() == [[103], [202], [203]]
    assert fragment.episodes == (
        EpisodeRecord("env-3/0", 3.0, 2, terminated=True),
        EpisodeRecord("env-3/1", 6.0, 3, terminated=False),
        EpisodeRecord("env-3/0", 3.0, 2, terminated=False),
        EpisodeRecord("env-3/0", 3.0, 2, terminated=True),
        EpisodeRecord("env-3/1", 6.0, 3, terminated=False),
    )


def test_a_fragment_of_next_step_resets() -> None:
    (fragment,) = _fragments(_worker("NextStep"), 1)

    assert _columns(fragment.observation) == [
        [100, 101, 102, 200, 201, 202],
        [100, 101, 102, 103, 200, 201],
    ]
    assert fragment.last_observation.tolist() == [[300], [202]]
    assert _columns(fragment.valid) == [[1, 1, 0, 1, 1, 0], [1, 1, 1, 0, 1, 1]]
    assert _columns(fragment.reward) == [[1, 2, 0, 1, 2, 0], [1, 2, 3, 0, 1, 2]]
    assert _columns(fragment.terminated) == [[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]
    assert _columns(fragment.truncated) == [[0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]
    assert fragment.final_index.tolist() == [[2, 1], [4, 0]]
    assert fragment.final_observation.tolist() == [[103], [202]]
    assert fragment.num_valid == 9
    assert fragment.episodes == (
        EpisodeRecord("env-3/0", 3.0, 2, terminated=True),
        EpisodeRecord("env-3/1", 6.0, 3, terminated=False),
        EpisodeRecord("env-3/0", 3.0, 2, terminated=False),
    )


@pytest.mark.parametrize("mode", ["SameStep", "Disabled", "NextStep"])
def test_the_answer_of_each_step_stands_in_its_row(mode: str) -> None:
    (fragment,) = _fragments(_worker(mode), 1)

    assert fragment.env_id == "env-3"
    assert _columns(fragment.action) == [[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]]
    assert _columns(fragment.log_prob) == [
        [0, -1, -2, -3, -4, -5],
        [-0.5, -1.5, -2.5, -3.5, -4.5, -5.5],
    ]
    assert _columns(fragment.value) == [[0, 10, 20, 30, 40, 50], [1, 11, 21, 31, 41, 51]]
    assert fragment.policy_version.tolist() == [0, 1, 2, 3, 4, 5]
    assert (fragment.num_steps, fragment.num_envs) == (6, 2)
    assert {array.dtype for array in (fragment.reward, fragment.log_prob, fragment.value)} == {
        np.dtype(np.float32)
    }


@pytest.mark.parametrize("mode", ["SameStep", "Disabled", "NextStep"])
def test_short_fragments_are_the_long_one_cut_up(mode: str) -> None:
    """Ends, resets and open episodes that lie at the cut of two fragments change nothing."""
    (whole,) = _fragments(_worker(mode), 1)
    pieces = _fragments(_worker(mode, rollout_length=1), NUM_STEPS, num_steps=1)

    for name in ("observation", "reward", "terminated", "truncated", "valid"):
        joined = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    shifted = [piece.final_index + [t, 0] for t, piece in enumerate(pieces)]
    np.testing.assert_array_equal(np.concatenate(shifted), whole.final_index)
    finals = np.concatenate([piece.final_observation for piece in pieces])
    np.testing.assert_array_equal(finals, whole.final_observation)
    assert sum((piece.episodes for piece in pieces), ()) == whole.episodes
    for earlier, later in zip(pieces, pieces[1:], strict=False):
        np.testing.assert_array_equal(earlier.last_observation, later.observation[0])


@pytest.mark.parametrize("mode", ["SameStep", "Disabled", "NextStep"])
@pytest.mark.parametrize("reuse_buffer", [True, False])
def test_no_transition_joins_two_episodes(mode: str, reuse_buffer: bool) -> None:
    """From a valid step that ends nothing, the same episode goes on one step further."""
    fragments = _fragments(_worker(mode, reuse_buffer=reuse_buffer), 4)
    for fragment in fragments:
        seen = np.concatenate([fragment.observation, fragment.last_observation[np.newaxis]])[..., 0]
        goes_on = fragment.valid & ~fragment.terminated & ~fragment.truncated
        assert (np.diff(seen, axis=0)[goes_on] == 1).all()
        for (t, b), final in zip(fragment.final_index, fragment.final_observation, strict=True):
            assert final[0] == fragment.observation[t, b, 0] + 1
