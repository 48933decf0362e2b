"""Distributions agree with `torch.distributions`, and noise selects actions exactly."""

from __future__ import annotations

import pytest
import torch
from torch import distributions as reference

from rlightning.policy.distributions import Categorical, DiagonalGaussian, MultiCategorical

GENERATOR = torch.Generator().manual_seed(3)
ALMOST_ONE = 1.0 - 2.0**-24


def logits(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=GENERATOR) * 3.0


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers).unsqueeze(-1)


def test_a_categorical_agrees_with_the_reference():
    rows = logits(50, 5)
    action = torch.randint(0, 5, (50,), generator=GENERATOR)
    ours, theirs = Categorical(rows), reference.Categorical(logits=rows)
    torch.testing.assert_close(ours.log_prob(action), theirs.log_prob(action))
    torch.testing.assert_close(ours.entropy(), theirs.entropy())
    assert torch.equal(ours.mode(), theirs.mode)


def test_several_categoricals_add_their_log_probabilities_and_entropies():
    rows = logits(50, 2 + 3 + 4)
    action = torch.stack(
        [torch.randint(0, size, (50,), generator=GENERATOR) for size in (2, 3, 4)], dim=-1
    )
    ours = MultiCategorical(rows, (2, 3, 4))
    theirs = [reference.Categorical(logits=part) for part in rows.split((2, 3, 4), dim=-1)]
    log_prob = sum(part.log_prob(action[:, k]) for k, part in enumerate(theirs))
    torch.testing.assert_close(ours.log_prob(action), log_prob)
    torch.testing.assert_close(ours.entropy(), sum(part.entropy() for part in theirs))
    assert torch.equal(ours.mode(), torch.stack([part.mode for part in theirs], dim=-1))


def test_a_gaussian_agrees_with_the_reference():
    mean, log_std = logits(50, 3), torch.tensor([-1.0, 0.0, 0.7])
    action = logits(50, 3)
    ours = DiagonalGaussian(mean, log_std)
    theirs = reference.Independent(reference.Normal(mean, log_std.exp()), 1)
    torch.testing.assert_close(ours.log_prob(action), theirs.log_prob(action))
    torch.testing.assert_close(ours.entropy(), theirs.entropy())
    assert torch.equal(ours.mode(), mean)


def test_uniform_noise_inverts_the_cumulative_distribution():
    # probabilities 1/2, 1/4, 1/4: [0, 0.5) -> 0, [0.5, 0.75) -> 1, [0.75, 1) -> 2
    rows = torch.tensor([0.5, 0.25, 0.25]).log().repeat(6, 1)
    noise = column(0.0, 0.49, 0.51, 0.74, 0.76, ALMOST_ONE)
    assert Categorical(rows).sample(noise).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_choice_without_probability_is_never_drawn():
    rows = torch.tensor([[0.0, 0.0, -torch.inf]]).repeat(2, 1) + column(0.0, 5.0)
    assert Categorical(rows).sample(column(ALMOST_ONE, ALMOST_ONE)).tolist() == [1, 1]
    first_impossible = torch.tensor([[-torch.inf, 0.0]])
    assert Categorical(first_impossible).sample(column(0.0)).tolist() == [1]


@pytest.mark.parametrize("num_choices", [2, 3, 7, 1000])
def test_the_largest_noise_selects_an_existing_choice(num_choices):
    rows = logits(100, num_choices)
    choice = Categorical(rows).sample(torch.full((100, 1), ALMOST_ONE))
    assert int(choice.max()) < num_choices


def test_nan_logits_draw_an_existing_choice_with_a_nan_log_probability():
    broken = Categorical(torch.full((1, 3), torch.nan))
    choice = broken.sample(column(0.5))
    assert 0 <= int(choice) < 3
    assert bool(broken.log_prob(choice).isnan())


def test_uniform_noise_draws_with_the_given_probabilities():
    noise = torch.rand(100_000, 1, generator=GENERATOR)
    rows = torch.tensor([0.2, 0.5, 0.3]).log().repeat(100_000, 1)
    shares = Categorical(rows).sample(noise).bincount() / 100_000
    torch.testing.assert_close(shares, torch.tensor([0.2, 0.5, 0.3]), atol=0.01, rtol=0.0)


def test_every_component_has_noise_of_its_own():
    rows = torch.zeros(1, 4)  # two components of two equal choices
    drawn = MultiCategorical(rows, (2, 2)).sample(torch.tensor([[0.4, 0.6]]))
    assert drawn.tolist() == [[0, 1]]


def test_normal_noise_is_scaled_and_shifted_without_clipping():
    gaussian = DiagonalGaussian(torch.tensor([[1.0, -1.0]]), torch.tensor([2.0, 0.5]).log())
    drawn = gaussian.sample(torch.tensor([[3.0, 5.0]]))
    torch.testing.assert_close(drawn, torch.tensor([[7.0, 1.5]]))
