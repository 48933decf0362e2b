"""Publishing copies weights under versions that only grow."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rlightning.errors import WeightsError
from rlightning.weights.publisher import Publisher


def test_versions_count_up_from_zero():
    publisher, module = Publisher(), nn.Linear(2, 1)
    assert [publisher.publish(module).version for _ in range(3)] == [0, 1, 2]
    assert publisher.next_version == 3


def test_a_run_that_goes_on_counts_on():
    assert Publisher(next_version=7).publish(nn.Linear(2, 1)).version == 7


def test_a_negative_version_is_refused():
    with pytest.raises(WeightsError, match="at least 0, got -1"):
        Publisher(-1)


def test_a_snapshot_keeps_its_numbers_while_training_goes_on():
    module = nn.BatchNorm1d(3)
    snapshot = Publisher().publish(module)
    before = {name: tensor.clone() for name, tensor in snapshot.state.items()}
    with torch.no_grad():
        for tensor in module.state_dict().values():
            tensor.add_(1)
    assert snapshot.state.keys() == module.state_dict().keys()
    assert all(torch.equal(snapshot.state[name], before[name]) for name in before)
    assert not any(tensor.requires_grad for tensor in snapshot.state.values())


def test_a_snapshot_cannot_be_given_other_weights():
    snapshot = Publisher().publish(nn.Linear(2, 1))
    with pytest.raises(TypeError):
        snapshot.state["weight"] = torch.zeros(1, 2)
