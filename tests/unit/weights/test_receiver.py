"""Weights are applied between forwards, all of them or none, and never backwards."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn

from rlightning.errors import WeightsError
from rlightning.weights.publisher import Publisher
from rlightning.weights.receiver import NO_VERSION, Receiver
from rlightning.weights.snapshot import WeightsSnapshot


def filled(number: float, version: int, module: nn.Module) -> WeightsSnapshot:
    state = {name: torch.full_like(part, number) for name, part in module.state_dict().items()}
    return WeightsSnapshot(version, state)


def numbers(module: nn.Module) -> set[float]:
    return {number for part in module.state_dict().values() for number in part.flatten().tolist()}


def test_the_module_gets_every_weight_and_the_version():
    module, source = nn.Linear(3, 2), nn.Linear(3, 2)
    receiver = Receiver(module)
    assert receiver.version == NO_VERSION
    assert receiver.apply(Publisher(4).publish(source)) == 4
    assert receiver.version == 4
    assert all(
        torch.equal(module.state_dict()[name], part) for name, part in source.state_dict().items()
    )


def test_older_weights_are_refused_and_change_nothing():
    module = nn.Linear(3, 2)
    receiver = Receiver(module)
    receiver.apply(filled(5.0, 5, module))
    with pytest.raises(WeightsError, match="version 5 or newer, got version 4"):
        receiver.apply(filled(4.0, 4, module))
    assert (receiver.version, numbers(module)) == (5, {5.0})


def test_the_same_version_again_changes_nothing():
    module = nn.Linear(3, 2)
    receiver = Receiver(module)
    receiver.apply(filled(5.0, 5, module))
    assert receiver.apply(filled(9.0, 5, module)) == 5
    assert numbers(module) == {5.0}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (nn.Linear(4, 2), r"'weight' of shape \(2, 3\) .* got \(2, 4\)"),
        (nn.Linear(3, 2, bias=False), "expected weights 'bias', got none"),
        (nn.Linear(3, 2).double(), "torch.float32, got .* torch.float64"),
        (nn.Sequential(nn.Linear(3, 2)), "got '0.weight' .*did you mean 'weight'"),
    ],
)
def test_weights_of_another_network_are_refused_and_change_nothing(source, message):
    module = nn.Linear(3, 2)
    receiver = Receiver(module)
    receiver.apply(filled(1.0, 1, module))
    with pytest.raises(WeightsError, match=message):
        receiver.apply(Publisher(2).publish(source))
    assert (receiver.version, numbers(module)) == (1, {1.0})


def test_what_was_applied_shares_no_memory_with_the_snapshot():
    module = nn.Linear(3, 2)
    snapshot = filled(1.0, 1, module)
    Receiver(module).apply(snapshot)
    with torch.no_grad():
        module.weight.add_(1.0)
    assert snapshot.state["weight"].unique().tolist() == [1.0]


def test_weights_that_arrive_during_a_forward_wait_for_its_end():
    module = nn.Linear(3, 2)
    receiver = Receiver(module)
    receiver.apply(filled(1.0, 1, module))
    arriving = threading.Thread(target=lambda: receiver.apply(filled(2.0, 2, module)))
    with receiver.forward() as version:
        arriving.start()
        arriving.join(timeout=0.05)
        assert (version, numbers(module)) == (1, {1.0})
    arriving.join(timeout=10.0)
    with receiver.forward() as version:
        assert (version, numbers(module)) == (2, {2.0})


def test_a_forward_never_sees_parts_of_two_versions():
    module = nn.Linear(64, 64)
    receiver = Receiver(module)
    receiver.apply(filled(0.0, 0, module))

    def apply_all() -> None:
        for version in range(1, 200):
            receiver.apply(filled(float(version), version, module))

    arriving = threading.Thread(target=apply_all)
    arriving.start()
    torn = []
    while arriving.is_alive():
        with receiver.forward() as version:
            if numbers(module) != {float(version)}:
                torn.append(version)
    arriving.join()
    assert torn == []
