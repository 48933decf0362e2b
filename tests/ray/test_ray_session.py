"""A Ray of our own leaves nothing; one that we join stays as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.errors import WorkerError
from rlightning.testing.ray_leftovers import RayLeftovers

SECONDS_TO_START = 120.0
SECONDS_TO_END = 60.0

PROGRAM = """
import sys
import ray
from rlightning import evaluate, train

connect = ray.init

def say_and_connect(**arguments):
    print("connecting", flush=True)
    return connect(**arguments)

ray.init = say_and_connect
result = train(
    "cartpole-ppo",
    ["cluster.backend=ray", "logging.live=lines", "logging.folder=" + sys.argv[1],
     "engine.total_env_steps=" + sys.argv[2], "engine.final_evaluation_episodes=0", *sys.argv[3:]],
)
if "evaluate" in sys.argv[1]:
    print("returned", evaluate(result.run_folder, episodes=2).mean_return)
"""

SMALL = ["env.num_workers=1", "env.num_envs=2", "policy.num_eval_policies=1"]
SMALL += ["engine.rollout_length=64", "algorithm.minibatch_size=64"]

FAILING_PROGRAM = """
from rlightning.runtime.ray.ray_runtime import RayRuntime
with RayRuntime():
    print("iteration", flush=True)
    raise RuntimeError("the program breaks off")
"""


@pytest.fixture(autouse=True)
def _each_program_leaves_nothing(leftovers: RayLeftovers) -> Iterator[None]:
    yield
    leftovers.require_none(SECONDS_TO_END)


@contextmanager
def start(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return
    pytest.fail(f"the program ended without saying {word!r}")


def test_B46_one_ray_serves_a_training_with_its_evaluations_and_another_a_later_one(
    tmp_path: Path,
) -> None:
    evaluations = ["engine.evaluation_interval=2", "engine.evaluation_episodes=1"]
    evaluations += ["engine.final_evaluation_episodes=1", "engine.evaluation_num_envs=1"]
    folder = str(tmp_path / "evaluate")
    with start(PROGRAM, folder, "256", *SMALL, *evaluations) as process:
        output, _ = process.communicate(timeout=2 * SECONDS_TO_START)
    assert process.returncode == 0, output
    assert "returned" in output
    assert output.count("connecting") == 2


@pytest.mark.parametrize(
    ("number", "code", "seconds"),
    [
        (signal.SIGINT, 1, 0.5),
        (signal.SIGTERM, 143, 2.0),
        pytest.param(signal.SIGINT, 1, 2.0, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, 143, 0.5, marks=pytest.mark.long),
    ],
)
def test_a_signal_while_ray_starts_leaves_nothing(
    tmp_path: Path, number: int, code: int, seconds: float
) -> None:
    with start(PROGRAM, str(tmp_path), "10_000_000") as process:
        read_until(process, "connecting")
        time.sleep(seconds)
        process.send_signal(number)
        output, _ = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode in (code, -number), output
    assert "Traceback" not in output or "KeyboardInterrupt" in output
    assert list(tmp_path.iterdir()) == [], "a run that never began leaves no folder"


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_signal_ends_the_training_and_all_its_processes(tmp_path: Path, number: int) -> None:
    with start(PROGRAM, str(tmp_path), "10_000_000") as process:
        read_until(process, "iteration")
        process.send_signal(number)
        output, _ = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 0, output
    assert "ending after this iteration" in output


def test_an_exception_ends_all_processes() -> None:
    with start(FAILING_PROGRAM) as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert "the program breaks off" in output


def test_without_a_cluster_at_the_address_the_error_names_it() -> None:
    program = (
        "from rlightning.runtime.ray.ray_runtime import RayRuntime\n"
        "from rlightning.runtime.ray.session import RaySettings\n"
        "RayRuntime(RaySettings(address='127.0.0.1:1'))\n"
    )
    with start(program) as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert f"{WorkerError.__name__}: expected to join the Ray cluster at '127.0.0.1:1'" in output
