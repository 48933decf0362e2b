"""A rollout holds every valid step once, whatever the fragments look like."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlightning.buffer.rollout import RolloutBatch
from rlightning.errors import ShapeError
from rlightning.types import Fragment

CPU = torch.device("cpu")


def numbered_fragment(
    first: int, num_steps: int, num_envs: int, valid: np.ndarray | None = None
) -> Fragment:
    """Every field of row (t, b) holds the same running number."""
    shape = (num_steps, num_envs)
    number = (first + np.arange(num_steps * num_envs).reshape(shape)).astype(np.float32)
    nothing = np.zeros(shape, dtype=bool)
    return Fragment(
        env_id=f"env-{first}",
        observation=np.stack([number, number], axis=-1),
        action=number.astype(np.int64),
        log_prob=number,
        value=number,
        reward=number,
        terminated=nothing,
        truncated=nothing,
        valid=np.ones(shape, dtype=bool) if valid is None else valid,
        final_index=np.zeros((0, 2), dtype=np.int64),
        final_observation=np.zeros((0, 2), dtype=np.float32),
        last_observation=np.zeros((num_envs, 2), dtype=np.float32),
        policy_version=np.zeros(num_steps, dtype=np.int64),
        episodes=(),
    )


def rollout_of(*fragments: Fragment) -> RolloutBatch:
    doubles = [fragment.value.astype(np.float64) for fragment in fragments]
    return RolloutBatch(fragments, doubles, doubles, CPU)


def numbers_in(minibatch: object) -> list[int]:
    """Check that all fields of each row belong together; return the rows' numbers."""
    columns = [
        minibatch.observation[:, 0],
        minibatch.observation[:, 1],
        minibatch.action.float(),
        minibatch.log_prob,
        minibatch.value,
        minibatch.advantage,
        minibatch.value_target,
    ]
    assert all(torch.equal(column, columns[0]) for column in columns)
    return [int(number) for number in columns[0]]


def test_fragments_of_different_sizes_become_rows_in_order():
    rollout = rollout_of(numbered_fragment(0, 3, 2), numbered_fragment(6, 2, 4))
    assert numbers_in(rollout.rows) == list(range(14))
    assert rollout.num_rows == 14


def test_rows_that_are_not_valid_are_left_out():
    valid = np.array([[True, False], [True, True]])
    rollout = rollout_of(numbered_fragment(0, 2, 2, valid), numbered_fragment(4, 1, 1))
    assert numbers_in(rollout.rows) == [0, 2, 3, 4]


def test_minibatches_hold_every_row_once_and_keep_rows_together():
    rollout = rollout_of(numbered_fragment(0, 5, 3))
    batches = [
        numbers_in(batch) for batch in rollout.minibatches(torch.Generator().manual_seed(0), 4)
    ]
    assert sorted(number for batch in batches for number in batch) == list(range(15))
    assert sorted(len(batch) for batch in batches) == [3, 4, 4, 4]


def test_the_last_minibatch_is_not_a_leftover():
    rollout = rollout_of(numbered_fragment(0, 65, 1))
    sizes = [len(batch.value) for batch in rollout.minibatches(torch.Generator(), 64)]
    assert sorted(sizes) == [32, 33]


def test_equal_generators_give_equal_orders_and_each_epoch_another():
    rollout = rollout_of(numbered_fragment(0, 8, 2))

    def order(generator: torch.Generator) -> list[int]:
        return numbers_in(next(iter(rollout.minibatches(generator, 16))))

    first, second = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    assert order(first) == order(second)
    assert order(first) != order(torch.Generator().manual_seed(5))


def test_the_global_random_state_is_left_alone():
    rollout = rollout_of(numbered_fragment(0, 8, 2))
    before = torch.get_rng_state()
    list(rollout.minibatches(torch.Generator().manual_seed(5), 4))
    assert torch.equal(before, torch.get_rng_state())


def test_fragments_without_a_valid_step_are_refused():
    with pytest.raises(ShapeError, match="at least one valid step"):
        rollout_of(numbered_fragment(0, 1, 2, np.zeros((1, 2), dtype=bool)))
