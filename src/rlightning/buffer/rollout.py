"""The valid steps of an iteration as flat rows, shuffled into minibatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rlightning.errors import ShapeError
from rlightning.types import Array, Fragment


@dataclass(frozen=True, slots=True)
class Minibatch:
    """Some rows of a rollout. Shapes: (M, …).

    Attributes:
        observation: Seen before the action. Shape: (M, *observation_shape).
        action: As drawn, not clipped. Shape: (M, *action_shape).
        log_prob: Of the action, under the policy that drew it. Shape: (M,).
        value: Estimated by the policy that acted. Shape: (M,).
        advantage: Shape: (M,).
        value_target: What the value should have been. Shape: (M,).
    """

    observation: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor
    advantage: Tensor
    value_target: Tensor


class RolloutBatch:
    """All valid rows of some fragments of one kind, in contiguous tensors.

    Args:
        fragments: Of environments of one kind; numbers of steps and sub-environments may differ.
        advantages: One array per fragment. Shape: (T, B).
        value_targets: One array per fragment. Shape: (T, B).
        device: Where the rows are kept.

    Raises:
        ShapeError: If there is no valid row.
    """

    def __init__(
        self,
        fragments: Sequence[Fragment],
        advantages: Sequence[Array],
        value_targets: Sequence[Array],
        device: torch.device,
    ) -> None:
        valid = [fragment.valid for fragment in fragments]

        def rows(arrays: Sequence[Array]) -> Tensor:
            return torch.from_numpy(_writable(_valid_rows(arrays, valid))).to(device)

        self.rows = Minibatch(
            observation=rows([fragment.observation for fragment in fragments]),
            action=rows([fragment.action for fragment in fragments]),
            log_prob=rows([fragment.log_prob for fragment in fragments]),
            value=rows([fragment.value for fragment in fragments]),
            advantage=rows([array.astype(np.float32) for array in advantages]),
            value_target=rows([array.astype(np.float32) for array in value_targets]),
        )
        if self.num_rows == 0:
            raise ShapeError("expected at least one valid step, got none; collect more steps")

    @property
    def num_rows(self) -> int:
        """Number of valid steps."""
        return int(self.rows.log_prob.shape[0])

    def minibatches(self, generator: torch.Generator, minibatch_size: int) -> Iterator[Minibatch]:
        """Yield every row once, in an order drawn from the generator.

        There are as few minibatches as the size allows, and their sizes differ by at most one.

        Args:
            generator: On the CPU.
            minibatch_size: Most rows in one minibatch.
        """
        order = torch.randperm(self.num_rows, generator=generator)
        num_minibatches = -(-self.num_rows // minibatch_size)
        all_rows = self.rows
        for row_index in order.to(all_rows.log_prob.device).tensor_split(num_minibatches):
            yield Minibatch(
                observation=all_rows.observation.index_select(0, row_index),
                action=all_rows.action.index_select(0, row_index),
                log_prob=all_rows.log_prob.index_select(0, row_index),
                value=all_rows.value.index_select(0, row_index),
                advantage=all_rows.advantage.index_select(0, row_index),
                value_target=all_rows.value_target.index_select(0, row_index),
            )


def _valid_rows(arrays: Sequence[Array], valid: Sequence[Array]) -> Array:
    """Flatten (T, B, …) arrays to one array of their valid rows, step by step."""
    parts = [
        array.reshape(-1, *array.shape[2:]) if mask.all() else array[mask]
        for array, mask in zip(arrays, valid, strict=True)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _writable(array: Array) -> Array:
    """Return an array that torch may share: one that came from shared memory is copied."""
    return array if array.flags.writeable else np.array(array)
