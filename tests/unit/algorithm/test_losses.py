"""Losses against numbers worked by hand, and their gradients against finite differences."""

from __future__ import annotations

import math

import pytest
import torch
from torch.autograd import gradcheck

from rlightning.algorithm import losses


def doubles(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def test_the_surrogate_clips_only_what_would_be_gained():
    # clip_range 0.2. Ratio, advantage -> min(ratio * A, clip(ratio) * A):
    # 1.5,  1 -> min( 1.5,  1.2) =  1.2      gain is clipped
    # 0.5,  1 -> min( 0.5,  0.8) =  0.5      loss is not
    # 1.5, -1 -> min(-1.5, -1.2) = -1.5      loss is not
    # 0.5, -1 -> min(-0.5, -0.8) = -0.8      gain is clipped
    # mean = (1.2 + 0.5 - 1.5 - 0.8) / 4 = -0.15, and the loss is its negative
    log_ratio = doubles(1.5, 0.5, 1.5, 0.5).log()
    loss = losses.clipped_surrogate(log_ratio, doubles(1, 1, -1, -1), 0.2)
    assert loss.item() == pytest.approx(0.15)


def test_the_surrogate_equals_the_formula_of_the_paper():
    generator = torch.Generator().manual_seed(0)
    log_ratio = torch.randn(1000, generator=generator, dtype=torch.float64)
    advantage = torch.randn(1000, generator=generator, dtype=torch.float64)
    ratio = log_ratio.exp()
    paper = -torch.minimum(ratio * advantage, ratio.clamp(0.9, 1.1) * advantage).mean()
    assert losses.clipped_surrogate(log_ratio, advantage, 0.1).item() == pytest.approx(paper.item())


def test_the_gradient_at_ratio_one_is_that_of_the_policy_gradient():
    log_ratio = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    losses.clipped_surrogate(log_ratio, doubles(3, -5), 0.2).backward()
    torch.testing.assert_close(log_ratio.grad, doubles(-1.5, 2.5))


def test_a_clipped_step_has_no_gradient():
    log_ratio = doubles(1.5, 0.5).log().requires_grad_()
    losses.clipped_surrogate(log_ratio, doubles(1, -1), 0.2).backward()
    torch.testing.assert_close(log_ratio.grad, doubles(0, 0))


def test_gradients_equal_finite_differences():
    log_ratio = doubles(0.1, -0.05, 0.9, -0.7, 0.3).requires_grad_()
    advantage = doubles(1.0, -2.0, -0.5, 0.7, -1.1)
    assert gradcheck(lambda x: losses.clipped_surrogate(x, advantage, 0.2), log_ratio)
    value = doubles(0.3, -0.6, 1.4, 0.9, 2.0).requires_grad_()
    old_value, target = doubles(0.2, 0.1, 0.1, 0.8, -1.0), doubles(1.0, -1.0, 0.0, 0.7, 3.0)
    assert gradcheck(lambda x: losses.squared_value_error(x, target), value)
    assert gradcheck(lambda x: losses.clipped_value_error(x, target, old_value, 0.25), value)


def test_the_clipped_value_error_takes_the_larger_square():
    # value 2, old 1, range 0.5 -> clipped 1.5.
    # target 3: max((2-3)^2, (1.5-3)^2) = 2.25;  target 0: max(4, 2.25) = 4;  mean 3.125
    error = losses.clipped_value_error(doubles(2, 2), doubles(3, 0), doubles(1, 1), 0.5)
    assert error.item() == 3.125


def test_the_value_error_is_the_mean_square():
    assert losses.squared_value_error(doubles(1, 2), doubles(3, 5)).item() == 6.5


def test_the_divergence_is_zero_for_equal_policies_and_never_negative():
    assert losses.approximate_kl(doubles(0, 0)).item() == 0.0
    # ratio 2: (2 - 1) - ln 2;  ratio 1/2: (1/2 - 1) + ln 2;  mean = 0.25
    assert losses.approximate_kl(doubles(2.0, 0.5).log()).item() == pytest.approx(0.25)
    assert losses.approximate_kl(torch.full((1,), -1e-4)).item() >= 0.0


def test_the_clip_fraction_counts_ratios_outside_the_range():
    log_ratio = doubles(1.0, 1.1, 1.3, 0.7).log()
    assert losses.clip_fraction(log_ratio, 0.2).item() == 0.5


def test_explained_variance_is_one_for_perfect_and_zero_for_constant_values():
    target = doubles(1, 2, 3)
    assert losses.explained_variance(target, target).item() == 1.0
    assert losses.explained_variance(doubles(7, 7, 7), target).item() == pytest.approx(0.0)
    assert losses.explained_variance(-target, target).item() == pytest.approx(-3.0)


def test_explained_variance_of_targets_that_do_not_vary_is_zero():
    assert losses.explained_variance(doubles(1, 2), doubles(5, 5)).item() == 0.0


def test_advantages_are_normalised_to_mean_zero_and_deviation_one():
    # mean 2, deviation sqrt((1 + 0 + 1) / 2) = 1
    torch.testing.assert_close(losses.normalized(doubles(1, 2, 3)), doubles(-1, 0, 1))


def test_a_single_advantage_becomes_zero_and_not_nan():
    assert losses.normalized(doubles(4)).item() == 0.0
    assert not math.isnan(losses.normalized(doubles(3, 3)).sum().item())
