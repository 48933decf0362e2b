"""Vectorised estimates equal slow loops over single steps, written from the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlightning.algorithm.returns import (
    StepSequence,
    discounted_returns,
    gae_advantages,
    running_returns,
)

fractions = st.sampled_from([0.0, 0.3, 0.9, 1.0])


@st.composite
def sequences(draw: st.DrawFn) -> StepSequence:
    """Any mixture of ends and reset rows."""
    num_steps, num_envs = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.2, 0.6]))
    shape = (num_steps, num_envs)
    return StepSequence(
        reward=generator.standard_normal(shape),
        value=generator.standard_normal(shape),
        terminated=generator.random(shape) < share,
        truncated=generator.random(shape) < share,
        valid=generator.random(shape) >= share / 2,
        final_value=generator.standard_normal(shape),
        last_value=generator.standard_normal(num_envs),
    )


def value_after(steps: StepSequence, step: int, env: int) -> float:
    if steps.terminated[step, env]:
        return 0.0
    if steps.truncated[step, env]:
        return float(steps.final_value[step, env])
    if step + 1 < len(steps.reward):
        return float(steps.value[step + 1, env])
    return float(steps.last_value[env])


def slow_advantage(
    steps: StepSequence, step: int, env: int, discount: float, gae_lambda: float
) -> float:
    """Sum temporal differences forward until the episode or the fragment ends."""
    total, weight = 0.0, 1.0
    while step < len(steps.reward) and steps.valid[step, env]:
        following = discount * value_after(steps, step, env)
        total += weight * (steps.reward[step, env] + following - steps.value[step, env])
        if steps.terminated[step, env] or steps.truncated[step, env]:
            break
        weight *= discount * gae_lambda
        step += 1
    return total


@given(sequences(), fractions, fractions)
def test_advantages_equal_the_sum_of_temporal_differences(steps, discount, gae_lambda):
    advantages = gae_advantages(steps, discount, gae_lambda)
    for step, env in np.ndindex(advantages.shape):
        expected = slow_advantage(steps, step, env, discount, gae_lambda)
        assert np.isclose(advantages[step, env], expected, rtol=1e-9, atol=1e-9)


@given(sequences(), fractions)
def test_returns_are_advantages_with_lambda_one_plus_values(steps, discount):
    returns = discounted_returns(steps, discount)
    expected = np.where(steps.valid, gae_advantages(steps, discount, 1.0) + steps.value, 0.0)
    np.testing.assert_allclose(returns, expected, rtol=1e-9, atol=1e-9)


@given(sequences(), fractions, fractions)
def test_what_a_reset_row_holds_is_never_read(steps, discount, gae_lambda):
    spoiled = StepSequence(
        reward=np.where(steps.valid, steps.reward, np.nan),
        value=steps.value,
        terminated=steps.terminated,
        truncated=steps.truncated,
        valid=steps.valid,
        final_value=np.where(steps.truncated & ~steps.terminated, steps.final_value, np.nan),
        last_value=steps.last_value,
    )
    np.testing.assert_array_equal(
        gae_advantages(spoiled, discount, gae_lambda), gae_advantages(steps, discount, gae_lambda)
    )
    np.testing.assert_array_equal(
        discounted_returns(spoiled, discount), discounted_returns(steps, discount)
    )


@given(sequences(), fractions)
def test_running_returns_do_not_depend_on_where_fragments_are_cut(steps, discount):
    ended = steps.terminated | steps.truncated
    start = np.zeros(steps.reward.shape[1])
    whole, at_the_end = running_returns(steps.reward, ended, steps.valid, discount, start)
    cut = len(steps.reward) // 2
    first, carried = running_returns(
        steps.reward[:cut], ended[:cut], steps.valid[:cut], discount, start
    )
    second, last = running_returns(
        steps.reward[cut:], ended[cut:], steps.valid[cut:], discount, carried
    )
    np.testing.assert_array_equal(np.concatenate([first, second]), whole)
    np.testing.assert_array_equal(last, at_the_end)
