from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlightning.env.episode_tracker import EpisodeTracker
from rlightning.types import EpisodeRecord


def _grid(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_an_episode_may_span_fragments() -> None:
    tracker = EpisodeTracker("env-7", 1)
    no, yes = np.zeros((2, 1), dtype=bool), np.array([[True], [False]])
    valid = np.ones((2, 1), dtype=bool)
    assert tracker.finish(_grid((1,), (2,)), no, no, valid) == ()
    assert tracker.finish(_grid((3,), (4,)), no, no, valid) == ()
    assert tracker.finish(_grid((5,), (6,)), yes, no, valid) == (
        EpisodeRecord("env-7/0", 15.0, 5, terminated=True),
    )
    assert tracker.finish(_grid((7,), (8,)), no, yes, valid) == (
        EpisodeRecord("env-7/0", 13.0, 2, terminated=False),
    )


def test_steps_that_are_not_valid_count_in_no_return_and_no_length() -> None:
    valid = np.array([[True], [False], [True]])
    ends = np.array([[False], [True], [True]])
    reward, no = _grid((1,), (100,), (2,)), np.zeros((3, 1), dtype=bool)
    assert EpisodeTracker("env-0", 1).finish(reward, ends, no, valid) == (
        EpisodeRecord("env-0/0", 3.0, 2, terminated=True),
    )


def test_small_rewards_are_not_lost_beside_the_returns_of_other_episodes() -> None:
    reward, no = _grid((1e20,), (1e-3,), (1e-3,)), np.zeros((3, 1), dtype=bool)
    ends = np.array([[True], [False], [True]])
    records = EpisodeTracker("env-0", 1).finish(reward, ends, no, np.ones((3, 1), dtype=bool))
    assert [record.episode_return for record in records] == [1e20, 2e-3]


@st.composite
def histories(draw):
    shape = (draw(st.integers(1, 12)), draw(st.integers(1, 4)))
    bits = st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    flags = [np.array(draw(bits)).reshape(shape) for _ in range(3)]
    cuts = draw(st.lists(st.integers(1, shape[0]), max_size=3))
    reward = np.arange(shape[0] * shape[1], dtype=np.float64).reshape(shape)
    return reward, *flags, sorted({0, shape[0], *cuts})


@given(history=histories())
def test_records_are_those_of_a_plain_loop_wherever_fragments_are_cut(history) -> None:
    reward, terminated, truncated, valid, cuts = history
    expected = []
    total, length = np.zeros(reward.shape[1]), np.zeros(reward.shape[1], dtype=int)
    for t in range(reward.shape[0]):
        for b in range(reward.shape[1]):
            if not valid[t, b]:
                continue
            total[b] += reward[t, b]
            length[b] += 1
            if terminated[t, b] or truncated[t, b]:
                expected.append(
                    EpisodeRecord(f"env-0/{b}", total[b], int(length[b]), bool(terminated[t, b]))
                )
                total[b] = length[b] = 0

    tracker, got = EpisodeTracker("env-0", reward.shape[1]), []
    for start, stop in zip(cuts, cuts[1:], strict=False):
        part = slice(start, stop)
        got += tracker.finish(reward[part], terminated[part], truncated[part], valid[part])
    assert got == expected
