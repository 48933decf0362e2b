"""Flat parameters are the module's own parameters, seen as one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rlightning.algorithm.flat_parameters import FlatParameters
from rlightning.errors import WeightsError


def test_the_module_computes_what_it_computed_before():
    module, inputs = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), torch.ones(1, 3)
    before = module(inputs).detach()
    FlatParameters(module)
    assert torch.equal(module(inputs), before)


def test_gradients_and_steps_reach_the_module():
    module = nn.Linear(2, 1, bias=False)
    flat = FlatParameters(module)
    flat.zero_gradient()
    (module(torch.tensor([[3.0, 4.0]]))).sum().backward()
    assert flat.weights.grad.tolist() == [3.0, 4.0]
    before = module.weight.detach().clone()
    torch.optim.SGD([flat.weights], lr=0.1).step()
    torch.testing.assert_close(module.weight.detach(), before - torch.tensor([[0.3, 0.4]]))


def test_clipping_scales_to_the_largest_norm_and_returns_the_old_one():
    module = nn.Linear(2, 1, bias=False)
    flat = FlatParameters(module)
    (module(torch.tensor([[3.0, 4.0]]))).sum().backward()
    assert flat.clip_gradient(None).item() == 5.0
    assert flat.clip_gradient(10.0).item() == 5.0
    assert flat.clip_gradient(2.5).item() == 5.0
    torch.testing.assert_close(flat.weights.grad, torch.tensor([1.5, 2.0]))


def test_clipping_equals_torchs():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    reference = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    reference.load_state_dict(module.state_dict())
    flat = FlatParameters(module)
    for network in (module, reference):
        network(torch.full((5, 3), 10.0)).square().sum().backward()
    norm = flat.clip_gradient(0.5)
    torch.testing.assert_close(norm, nn.utils.clip_grad_norm_(reference.parameters(), 0.5))
    gradients = torch.cat([part.grad.reshape(-1) for part in reference.parameters()])
    torch.testing.assert_close(flat.weights.grad, gradients)


def test_frozen_parameters_are_left_out():
    module = nn.Linear(2, 1)
    module.bias.requires_grad_(False)
    assert FlatParameters(module).weights.numel() == 2


def test_parameters_of_two_types_are_refused():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1).double())
    with pytest.raises(WeightsError, match="got torch.float32 on cpu, torch.float64 on cpu"):
        FlatParameters(module)


def test_a_module_without_parameters_is_refused():
    with pytest.raises(WeightsError, match="got none"):
        FlatParameters(nn.Tanh())
