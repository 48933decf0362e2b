"""Advantages and returns worked out by hand, the working shown.

Everywhere discount = 0.5 and gae_lambda = 0.5, so a step later weighs 0.25 in the advantage.
"""

from __future__ import annotations

import numpy as np

from rlightning.algorithm.returns import (
    StepSequence,
    discounted_returns,
    gae_advantages,
    running_returns,
)


def column(*numbers: float) -> np.ndarray:
    """Return one sub-environment's numbers. Shape: (T, 1)."""
    return np.array(numbers, dtype=np.float32)[:, np.newaxis]


def flags(text: str) -> np.ndarray:
    """Return one sub-environment's flags, `x` for True. Shape: (T, 1)."""
    return np.array([letter == "x" for letter in text])[:, np.newaxis]


def steps(
    terminated: str = "...",
    truncated: str = "...",
    valid: str = "xxx",
    final_value: tuple[float, ...] = (0.0, 0.0, 0.0),
) -> StepSequence:
    """Rewards 1, 2, 3; values 4, 8, 16; 32 after the last step."""
    return StepSequence(
        reward=column(1, 2, 3),
        value=column(4, 8, 16),
        terminated=flags(terminated),
        truncated=flags(truncated),
        valid=flags(valid),
        final_value=column(*final_value),
        last_value=np.array([32.0], dtype=np.float32),
    )


def test_an_episode_that_goes_on_bootstraps_from_the_last_value():
    # delta[2] = 3 + 0.5 * 32 - 16 = 3       advantage[2] = 3
    # delta[1] = 2 + 0.5 * 16 -  8 = 2       advantage[1] = 2 + 0.25 * 3    = 2.75
    # delta[0] = 1 + 0.5 *  8 -  4 = 1       advantage[0] = 1 + 0.25 * 2.75 = 1.6875
    np.testing.assert_array_equal(gae_advantages(steps(), 0.5, 0.5), column(1.6875, 2.75, 3))


def test_nothing_follows_a_termination():
    # delta[2] = 3 + 0.5 * 32 - 16 = 3       advantage[2] = 3
    # delta[1] = 2 + 0        -  8 = -6      advantage[1] = -6
    # delta[0] = 1 + 0.5 *  8 -  4 = 1       advantage[0] = 1 + 0.25 * -6 = -0.5
    sequence = steps(terminated=".x.")
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(-0.5, -6, 3))


def test_a_truncation_bootstraps_from_its_own_last_observation():
    # delta[1] = 2 + 0.5 * 20 - 8 = 4        advantage[1] = 4, nothing of step 2
    # delta[0] = 1                           advantage[0] = 1 + 0.25 * 4 = 2
    sequence = steps(truncated=".x.", final_value=(0, 20, 0))
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(2, 4, 3))


def test_a_termination_wins_over_a_truncation_in_the_same_step():
    sequence = steps(terminated=".x.", truncated=".x.", final_value=(0, 20, 0))
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(-0.5, -6, 3))


def test_a_truncation_in_the_last_step_leaves_the_last_value_aside():
    # delta[2] = 3 + 0.5 * 10 - 16 = -8      advantage[2] = -8
    # delta[1] = 2                           advantage[1] = 2 + 0.25 * -8 = 0
    # delta[0] = 1                           advantage[0] = 1
    sequence = steps(truncated="..x", final_value=(0, 0, 10))
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(1, 0, -8))


def test_a_reset_row_has_no_advantage_and_passes_none_on():
    # Step 0 ended an episode; row 1 was spent on the reset.
    # advantage[2] = 3;  advantage[1] = 0;  advantage[0] = 1 + 0 - 4 = -3
    sequence = steps(terminated="x..", valid="x.x")
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(-3, 0, 3))


def test_a_reset_row_cuts_the_chain_even_without_an_end():
    # advantage[0] = delta[0] = 1 + 0.5 * 8 - 4 = 1, nothing of later rows
    sequence = steps(valid="x.x")
    np.testing.assert_array_equal(gae_advantages(sequence, 0.5, 0.5), column(1, 0, 3))


def test_returns_sum_discounted_rewards_to_the_end_of_the_episode():
    # return[2] = 3 + 0.5 * 32 = 19;  return[1] = 2;  return[0] = 1 + 0.5 * 2 = 2
    np.testing.assert_array_equal(
        discounted_returns(steps(terminated=".x."), 0.5), column(2, 2, 19)
    )


def test_returns_of_an_episode_that_goes_on_reach_to_the_last_value():
    # return[2] = 3 + 0.5 * 32 = 19;  return[1] = 2 + 0.5 * 19 = 11.5
    # return[0] = 1 + 0.5 * 11.5 = 6.75
    np.testing.assert_array_equal(discounted_returns(steps(), 0.5), column(6.75, 11.5, 19))


def test_running_returns_look_back_and_start_anew_after_an_end():
    # from 8: 0.5 * 8 + 1 = 5;  0.5 * 5 + 2 = 4.5, ended;  0.5 * 0 + 3 = 3
    running, carried = running_returns(
        column(1, 2, 3), flags(".x."), flags("xxx"), 0.5, np.array([8.0])
    )
    np.testing.assert_array_equal(running, column(5, 4.5, 3))
    np.testing.assert_array_equal(carried, [3.0])


def test_a_reset_row_leaves_the_running_return_as_it_was():
    # 1;  row 1 does not count;  0.5 * 1 + 3 = 3.5
    running, carried = running_returns(
        column(1, 2, 3), flags("..."), flags("x.x"), 0.5, np.array([0.0])
    )
    np.testing.assert_array_equal(running, column(1, 1, 3.5))
    np.testing.assert_array_equal(carried, [3.5])
