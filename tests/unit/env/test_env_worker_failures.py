from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from rlightning.env.worker import EnvWorker
from rlightning.errors import (
    EnvironmentFailedError,
    NotFiniteError,
    ShapeError,
)
from rlightning.testing.env_workers import STAY, TESTING, answer_of, create_worker


def _raise_at(where: str) -> tuple[EnvironmentFailedError, EnvWorker]:
    worker = create_worker(TESTING + "Raising-v0", index=3, kwargs={where: 2})
    with pytest.raises(EnvironmentFailedError) as caught:
        _reset_and_step(worker, 4)
    return caught.value, worker


def _reset_and_step(worker: EnvWorker, num_steps: int) -> None:
    worker.reset()
    for _ in range(num_steps):
        worker.step(STAY)


def test_an_environment_that_raises_in_step_is_named_with_the_step() -> None:
    error, worker = _raise_at("at_step")
    text = "environment 'rlightning.testing.environments:Raising-v0' (env-3), step 2: "
    assert str(error).startswith(text)
    assert "RuntimeError: the simulator crashed in step" in str(error)
    assert error.worker_id == "env-3"
    assert isinstance(error.__cause__, RuntimeError)
    worker.close()


def test_an_environment_that_raises_in_the_reset_within_a_step_is_named_too() -> None:
    error, worker = _raise_at("at_reset")
    assert "(env-3), step 3: " in str(error)
    assert isinstance(error.__cause__, RuntimeError)
    worker.close()


def test_an_environment_that_raises_in_its_first_reset_is_named() -> None:
    worker = create_worker(TESTING + "Raising-v0", kwargs={"at_reset": 1})
    with pytest.raises(EnvironmentFailedError, match=r"\(env-0\), reset: .*crashed in reset"):
        worker.reset()
    worker.close()


def test_the_error_travels_between_processes() -> None:
    error, worker = _raise_at("at_step")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.worker_id) == (str(error), "env-3")
    worker.close()


def test_after_a_failure_a_reset_must_come_first() -> None:
    worker = create_worker(TESTING + "NaN-v0", kwargs={"at_step": 1})
    worker.reset()
    for reason in ("finite observation", r"expected reset\(\) before step\(\)"):
        with pytest.raises(EnvironmentFailedError, match=reason):
            worker.step(STAY)
    assert worker.reset().observation.tolist() == [[200], [200]]
    worker.step(STAY)
    worker.close()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_an_observation_that_is_not_finite_is_named(value) -> None:
    worker = create_worker(TESTING + "NaN-v0", kwargs={"at_step": 2, "value": value})
    worker.reset()
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match="step 2: expected a finite observation"):
        worker.step(STAY)
    worker.close()


def test_an_observation_that_is_not_finite_after_a_reset_is_named() -> None:
    worker = create_worker(TESTING + "NaN-v0", kwargs={"at_step": 0})
    with pytest.raises(EnvironmentFailedError, match="reset: expected a finite observation, got"):
        worker.reset()
    worker.close()


def test_a_last_observation_that_is_not_finite_is_named() -> None:
    kwargs = {"at_step": 3, "ends": ["truncated"]}
    worker = create_worker(TESTING + "NaN-v0", kwargs=kwargs)
    worker.reset()
    worker.step(STAY)
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match="step 3: expected a finite last observation"):
        worker.step(STAY)
    worker.close()


@pytest.mark.parametrize("value", ["nan", "inf", "1e300"])
def test_a_reward_that_is_not_finite_is_named_before_the_fragment_is_handed_out(value) -> None:
    kwargs = {"at_step": 3, "where": "reward", "value": value, "lengths": [99]}
    worker = create_worker(TESTING + "NaN-v0", length=2, kwargs=kwargs)
    worker.reset()
    worker.step(STAY)
    worker.step(STAY)
    worker.take_fragment()
    worker.step(STAY)
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match="step 3: expected a finite reward, got"):
        worker.take_fragment()
    worker.close()


@pytest.mark.parametrize("at_step", [0, 2])
def test_an_observation_of_another_shape_is_refused(at_step) -> None:
    worker = create_worker(TESTING + "WrongShape-v0", kwargs={"at_step": at_step, "lengths": [99]})
    with pytest.raises(EnvironmentFailedError, match="step 2|reset") as caught:
        _reset_and_step(worker, 2)
    assert "shape" in str(caught.value)
    worker.close()


def test_B77_a_source_that_ends_is_an_error_and_no_silent_wait() -> None:
    worker = create_worker(TESTING + "Finite-v0", kwargs={"num_available": 2})
    worker.reset()
    worker.step(STAY)
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match="step 3: .*StopIteration: the source has no"):
        worker.step(STAY)
    worker.close()


def test_a_hanging_worker_says_where_it_is() -> None:
    is_hanging, go_on = threading.Event(), threading.Event()

    def wait(seconds: float) -> None:
        is_hanging.set()
        go_on.wait(seconds)

    worker = create_worker(
        "rlightning.testing.environments:Hanging-v0",
        kwargs={"at_step": 2, "seconds": 30.0, "wait": wait},
    )
    assert worker.describe_activity().endswith("(env-0), starting")
    worker.reset()
    assert worker.describe_activity().endswith("(env-0), waiting for its first action")
    worker.step(STAY)
    thread = threading.Thread(target=worker.step, args=(STAY,))
    thread.start()
    assert is_hanging.wait(30.0)
    expected = "environment 'rlightning.testing.environments:Hanging-v0' (env-0), step 2"
    assert worker.describe_activity() == expected
    go_on.set()
    thread.join(30.0)
    worker.close()


def test_a_fragment_has_all_its_steps_or_is_not_handed_out() -> None:
    worker = create_worker(TESTING + "Counting-v0", length=2)
    with pytest.raises(EnvironmentFailedError, match="expected 2 steps in the fragment, got 0"):
        worker.take_fragment()
    worker.reset()
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match="expected 2 steps in the fragment, got 1"):
        worker.take_fragment()
    worker.step(STAY)
    with pytest.raises(EnvironmentFailedError, match=r"expected take_fragment\(\) after 2 steps"):
        worker.step(STAY)
    assert worker.take_fragment().num_steps == 2
    worker.close()


def test_actions_of_another_shape_are_refused_and_name_the_replica() -> None:
    worker = create_worker(TESTING + "Counting-v0")
    worker.reset()
    for action in ([0], [0, 0, 0], [[0], [0]]):
        with pytest.raises(ShapeError, match=r"shape \(2,\) for env-0, got .* from eval-0"):
            worker.step(answer_of(action))
    worker.step(STAY)
    worker.close()


def test_actions_that_are_not_finite_are_the_policys_fault_and_step_nothing() -> None:
    worker = create_worker("Pendulum-v1")
    worker.reset()
    with pytest.raises(NotFiniteError):
        worker.step(answer_of(np.float32([[np.nan], [0.0]])))
    worker.step(answer_of(np.float32([[0.0], [0.0]])))
    worker.close()


def test_an_environment_that_raises_when_it_is_closed_is_named(closings) -> None:
    closings.raising = 2
    with pytest.raises(EnvironmentFailedError, match=r"env-0\), close: .*the window does not"):
        create_worker("Closing-v0").close()
