"""Merged statistics equal those of everything at once, however it is cut into batches."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlightning.policy.normalization import RunningMoments, RunningNormalizer


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any),
    shift=st.sampled_from([0.0, -3.0, 1e4]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_merged_moments_equal_numpys_over_all_rows(seed, sizes, shift, scale):
    generator = np.random.default_rng(seed)
    batches = [generator.standard_normal((size, 3)) * scale + shift for size in sizes]
    moments = RunningMoments((3,))
    for batch in batches:
        moments.update(torch.from_numpy(batch))
    rows = np.concatenate(batches)
    np.testing.assert_allclose(moments.mean.numpy(), rows.mean(axis=0), rtol=1e-9, atol=1e-9)
    variance = rows.var(axis=0)
    np.testing.assert_allclose(moments.variance.numpy(), variance, rtol=1e-6, atol=1e-9)
    assert float(moments.count) == len(rows)


def test_before_the_first_row_nothing_is_shifted_or_scaled():
    normalizer = RunningNormalizer((2,), clip=10.0)
    observation = torch.tensor([[3.0, -4.0]])
    normalizer.update(torch.zeros(0, 2))
    assert torch.equal(normalizer(observation), observation)


def test_forward_changes_no_statistic_and_clips():
    normalizer = RunningNormalizer((2,), clip=2.0)
    normalizer.update(torch.tensor([[0.0, 1.0], [2.0, 5.0]]))
    before = {name: tensor.clone() for name, tensor in normalizer.state_dict().items()}
    # means 1 and 3, deviations 1 and 2: (4 - 1) / 1 = 3 is clipped to 2, (2 - 3) / 2 = -0.5
    result = normalizer(torch.tensor([[4.0, 2.0]]))
    torch.testing.assert_close(result, torch.tensor([[2.0, -0.5]]))
    assert all(torch.equal(before[name], part) for name, part in normalizer.state_dict().items())


def test_a_quantity_that_never_varies_stays_finite():
    normalizer = RunningNormalizer((1,), clip=10.0)
    normalizer.update(torch.full((5, 1), 7.0))
    assert float(normalizer(torch.full((1, 1), 7.0))) == 0.0


def test_statistics_of_scalars_have_no_axes():
    moments = RunningMoments(())
    moments.update(torch.tensor([1.0, 3.0]))
    assert (float(moments.mean), float(moments.variance)) == (2.0, 1.0)
