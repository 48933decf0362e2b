from __future__ import annotations

import copy
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text

from rlightning.errors import (
    EnvironmentFailedError,
    SpaceError,
)
from rlightning.testing.env_workers import STAY, TESTING, answer_of, create_worker
from rlightning.testing.environments import CountingEnv


class EchoEnv(gymnasium.Env):
    """Shows the action that it was given, and checks that it is one of its own."""

    def __init__(self, action_space: Any) -> None:
        self.action_space = action_space
        size = max(1, int(np.prod(action_space.shape)))
        self.observation_space = Box(-100.0, 100.0, shape=(size,), dtype=np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(self.observation_space.shape), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        return np.asarray(action, dtype=np.float64).reshape(-1), 0.0, False, False, {}


class PictureEnv(CountingEnv):
    observation_space = Box(0, 255, shape=(4, 4, 1), dtype=np.uint8)

    def _observation(self):
        return np.full((4, 4, 1), self._step, dtype=np.uint8)


class StrangeEnv(CountingEnv):
    """One sub-environment with spaces that the test chooses."""

    def __init__(self, observation_space: Any) -> None:
        super().__init__()
        self.observation_space = observation_space


@pytest.fixture(autouse=True)
def _environments_of_this_file():
    names = {"Echo": EchoEnv, "Picture": PictureEnv, "Strange": StrangeEnv}
    for name, entry_point in names.items():
        gymnasium.register(f"{name}-v0", entry_point=entry_point)
    yield
    for name in names:
        gymnasium.registry.pop(f"{name}-v0")


def test_the_worker_names_itself_and_says_what_a_policy_must_fit() -> None:
    worker = create_worker("CartPole-v1", index=7)
    assert worker.identity() == worker.env_id == "env-7"
    assert worker.kind().observation_space.shape == (4,)
    assert worker.kind().action_space == Discrete(2)
    worker.close()


def test_a_request_holds_observations_noise_and_the_sender() -> None:
    worker = create_worker(TESTING + "Counting-v0", index=3, num_envs=5)
    request = worker.reset()
    assert request.env_id == "env-3"
    assert request.observation.tolist() == [[100.0]] * 5
    assert request.noise.shape == (5, 1)
    worker.close()


def test_every_request_has_fresh_noise() -> None:
    worker = create_worker(TESTING + "Counting-v0", length=2)
    requests = [worker.reset()]
    for _ in range(5):
        requests += [worker.step(STAY), worker.step(STAY)]
        worker.take_fragment()
    drawn = np.concatenate([request.noise.reshape(-1) for request in requests])
    assert len(np.unique(drawn)) == drawn.size
    worker.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_nothing_that_was_handed_out_changes_later(mode) -> None:
    kwargs = {"autoreset_mode": mode, "lengths": [[2], [3]], "ends": [["truncated"]]}
    worker = create_worker(TESTING + "CountingVector-v0", length=3, kwargs=kwargs)
    handed_out = [worker.reset()]
    for _ in range(4):
        handed_out += [worker.step(STAY) for _ in range(3)]
        handed_out.append(worker.take_fragment())
        if len(handed_out) == 5:
            as_it_was = copy.deepcopy(handed_out)
    for now, before in zip(handed_out, as_it_was, strict=False):
        for name in before.__slots__:
            np.testing.assert_array_equal(getattr(now, name), getattr(before, name))
    worker.close()


def test_an_environment_that_reuses_its_array_spoils_no_last_observation() -> None:
    kwargs = {"lengths": [2], "ends": ["truncated"], "reuse_buffer": True}
    worker = create_worker(TESTING + "Counting-v0", length=2, kwargs=kwargs)
    worker.reset()
    worker.step(STAY)
    assert worker.step(STAY).observation.tolist() == [[200], [200]]
    fragment = worker.take_fragment()
    assert fragment.final_observation.tolist() == [[102], [102]]
    assert fragment.observation[..., 0].tolist() == [[100, 100], [101, 101]]
    worker.close()


@pytest.mark.parametrize(
    ("space", "drawn", "given"),
    [
        (Discrete(3, start=5), [0, 2], [[5], [7]]),
        (MultiDiscrete([2, 3], start=[0, 10]), [[1, 2], [0, 0]], [[1, 12], [0, 10]]),
        (MultiBinary(2), [[1, 0], [1, 1]], [[1, 0], [1, 1]]),
        (MultiDiscrete([[2], [3]]), [[1, 2], [0, 1]], [[1, 2], [0, 1]]),
        (Box(-1.0, 1.0, shape=(2,)), np.float32([[-5, 0.5], [2, 0]]), [[-1, 0.5], [1, 0]]),
        (Box(-1.0, 1.0, shape=(1, 2)), np.float32([[-5, 0.5], [2, 0]]), [[-1, 0.5], [1, 0]]),
    ],
)
def test_the_environment_gets_its_own_actions_and_the_fragment_those_drawn(
    space, drawn, given
) -> None:
    worker = create_worker("Echo-v0", length=1, kwargs={"action_space": space})
    worker.reset()
    assert worker.step(answer_of(drawn)).observation.tolist() == given
    fragment = worker.take_fragment()
    np.testing.assert_array_equal(fragment.action[0], drawn)
    assert fragment.action.dtype == worker.kind().action_space.dtype
    worker.close()


def test_pictures_stay_uint8_and_float64_becomes_float32() -> None:
    pictures = create_worker("Picture-v0", length=1)
    assert pictures.reset().observation.dtype == np.uint8
    assert pictures.step(STAY).observation.shape == (2, 4, 4, 1)
    assert pictures.take_fragment().observation.dtype == np.uint8
    echo = create_worker("Echo-v0", kwargs={"action_space": Discrete(2)})
    assert echo.reset().observation.dtype == np.float32
    pictures.close()
    echo.close()


def test_composite_observations_are_flattened_or_refused() -> None:
    space = Dict({"a": Discrete(2)})
    with pytest.raises(SpaceError, match="flatten_observation is false"):
        create_worker("Strange-v0", kwargs={"observation_space": space}, flatten_observation=False)
    worker = create_worker("Strange-v0", kwargs={"observation_space": space})
    assert worker.kind().observation_space.shape == (2,)
    worker.close()


def test_a_refused_space_closes_the_environments(monkeypatch) -> None:
    closed = []
    monkeypatch.setattr(StrangeEnv, "close", lambda self: closed.append(id(self)))
    with pytest.raises(SpaceError):
        create_worker("Strange-v0", kwargs={"observation_space": Text(3)})
    assert len(set(closed)) == 2


def test_a_reset_drops_an_unfinished_fragment_and_its_open_episodes() -> None:
    worker = create_worker(TESTING + "Counting-v0", length=3)
    worker.reset()
    worker.step(STAY)
    assert worker.reset().observation.tolist() == [[200], [200]]
    for _ in range(3):
        worker.step(STAY)
    fragment = worker.take_fragment()
    assert fragment.observation[:, 0, 0].tolist() == [200, 201, 202]
    assert [episode.length for episode in fragment.episodes] == [3, 3]
    worker.close()


def test_closing_closes_every_sub_environment_once(closings) -> None:
    worker = create_worker("Closing-v0", num_envs=3)
    worker.close()
    worker.close()
    assert len(set(closings)) == len(closings) == 3
    with pytest.raises(EnvironmentFailedError, match="close"):
        worker.step(STAY)


def test_no_torch_is_loaded_for_environments() -> None:
    import subprocess

    code = (
        "import sys, rlightning.env.group, rlightning.testing.environments; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
