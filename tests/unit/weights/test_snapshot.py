"""A snapshot travels as arrays whose memory need not be copied."""

from __future__ import annotations

import copy
import pickle
from types import MappingProxyType

import numpy as np
import torch

from rlightning.weights.snapshot import WeightsSnapshot


def create_snapshot() -> WeightsSnapshot:
    state = {
        "matrix": torch.arange(12.0).reshape(3, 4).t(),
        "count": torch.tensor(3),
        "empty": torch.zeros(0, 2),
        "mask": torch.tensor([True, False]),
        "half": torch.ones(3, dtype=torch.bfloat16),
    }
    return WeightsSnapshot(5, MappingProxyType(state))


def is_equal(one: WeightsSnapshot, other: WeightsSnapshot) -> bool:
    return one.version == other.version and all(
        torch.equal(one.state[name], other.state[name])
        and one.state[name].dtype == other.state[name].dtype
        for name in {**one.state, **other.state}
    )


def test_it_comes_back_as_it_was() -> None:
    snapshot = create_snapshot()
    assert is_equal(pickle.loads(pickle.dumps(snapshot)), snapshot)
    assert is_equal(copy.deepcopy(snapshot), snapshot)


def test_its_memory_travels_beside_the_pickle_and_is_used_as_it_is() -> None:
    snapshot = WeightsSnapshot(1, {"weight": torch.zeros(100_000)})
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(snapshot, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1_000
    memory = np.frombuffer(buffers[0], dtype=np.uint8).copy()
    memory.flags.writeable = False
    received = pickle.loads(data, buffers=[memory])
    assert received.state["weight"].data_ptr() == memory.ctypes.data
