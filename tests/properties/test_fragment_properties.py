"""Whatever the autoreset mode, the valid transitions are those of the environment itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlightning.config.env_config import EnvConfig
from rlightning.env.worker import EnvWorker
from rlightning.types import ActionBatch, Fragment

modes = st.sampled_from(["NextStep", "SameStep", "Disabled"])
ways_to_end = st.sampled_from(["terminated", "truncated", "both"])
plans = st.lists(st.tuples(st.integers(1, 5), ways_to_end), min_size=1, max_size=4)

Transition = tuple[float, float, str, float | None]


def _played(plan: list[tuple[int, str]]) -> Iterator[Transition]:
    """Yield what a counting environment does: seen, reward, end, seen next if it counts."""
    episode = 0
    while True:
        length, end = plan[episode % len(plan)]
        episode += 1
        for step in range(length):
            is_over = step == length - 1
            follows = None if is_over and end != "truncated" else 100.0 * episode + step + 1
            yield 100.0 * episode + step, step + 1.0, end if is_over else "", follows


def _recorded(fragment: Fragment, column: int) -> Iterator[Transition]:
    finals = zip(fragment.final_index.tolist(), fragment.final_observation[:, 0], strict=True)
    final_of = {t: float(final) for (t, b), final in finals if b == column}
    seen = [*fragment.observation[:, column, 0], fragment.last_observation[column, 0]]
    names = {(0, 0): "", (1, 0): "terminated", (0, 1): "truncated", (1, 1): "both"}
    for t in np.flatnonzero(fragment.valid[:, column]).tolist():
        flags = int(fragment.terminated[t, column]), int(fragment.truncated[t, column])
        follows = None if flags[0] else final_of.get(t, float(seen[t + 1]))
        yield float(seen[t]), float(fragment.reward[t, column]), names[flags], follows


def _fragments(mode: str, plan_of_each: list, lengths: tuple[int, int]) -> list[Fragment]:
    kwargs = {
        "autoreset_mode": mode,
        "lengths": [[length for length, _ in plan] for plan in plan_of_each],
        "ends": [[end for _, end in plan] for plan in plan_of_each],
    }
    num_envs = len(plan_of_each)
    env_id = "rlightning.testing.environments:CountingVector-v0"
    config = EnvConfig(id=env_id, num_envs=num_envs, kwargs=kwargs)
    rollout_length, num_fragments = lengths
    worker = EnvWorker(config, 0, rollout_length, 0)
    zeros = np.zeros(num_envs, dtype=np.float32)
    answer = ActionBatch("env-0", np.zeros(num_envs, dtype=int), zeros, zeros, 0, "eval-0")
    worker.reset()
    fragments = []
    for _ in range(num_fragments):
        for _ in range(rollout_length):
            worker.step(answer)
        fragments.append(worker.take_fragment())
    worker.close()
    return fragments


@settings(max_examples=60)
@given(
    mode=modes,
    plan_of_each=st.lists(plans, min_size=1, max_size=3),
    lengths=st.tuples(st.integers(1, 7), st.integers(1, 3)),
)
def test_valid_transitions_are_those_of_the_environment(mode, plan_of_each, lengths) -> None:
    fragments = _fragments(mode, plan_of_each, lengths)
    for column, plan in enumerate(plan_of_each):
        recorded = [row for fragment in fragments for row in _recorded(fragment, column)]
        assert recorded == list(islice(_played(plan), len(recorded)))
    episodes = [episode for fragment in fragments for episode in fragment.episodes]
    ends = sum(
        int(((fragment.terminated | fragment.truncated) & fragment.valid).sum())
        for fragment in fragments
    )
    assert len(episodes) == ends
    assert all(e.episode_return == e.length * (e.length + 1) / 2 for e in episodes)


@settings(max_examples=30)
@given(plan_of_each=st.lists(plans, min_size=1, max_size=3), num_steps=st.integers(1, 12))
def test_only_next_step_resets_cost_rows(plan_of_each, num_steps) -> None:
    for mode in ("SameStep", "Disabled"):
        (fragment,) = _fragments(mode, plan_of_each, (num_steps, 1))
        assert fragment.valid.all()
    (fragment,) = _fragments("NextStep", plan_of_each, (num_steps, 1))
    ended = fragment.terminated | fragment.truncated
    assert (fragment.valid[1:] == ~ended[:-1]).all()
    assert not fragment.reward[~fragment.valid].any()
