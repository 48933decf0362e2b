"""A Ray of our own leaves nothing; one that we join stays as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.errors import WorkerError

MARK = "RLIGHTNING_TEST_MARK"
STARTED: list[int] = []
"""Ids of all processes that were started here."""
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


@pytest.fixture
def mark() -> Iterator[str]:
    """Return what all processes of a program inherit; at the end none of them may be left."""
    mark = uuid.uuid4().hex
    yield mark
    deadline = time.monotonic() + SECONDS_TO_END
    while left := processes_with(mark):
        assert time.monotonic() < deadline, f"left running: {left}"
        time.sleep(0.1)


def processes_with(mark: str) -> dict[str, str]:
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found[folder.name] = (folder / "cmdline").read_text().replace("\0", " ")[:80]
        except OSError:
            continue
    return found


@contextmanager
def start(mark: str, program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    STARTED.append(process.pid)
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


@pytest.fixture(autouse=True)
def no_new_session_folder() -> Iterator[None]:
    """Find every Ray that a program of a test started without removing its files."""
    before = session_folders()
    yield
    own = [name for name in session_folders() - before if int(name.split("_")[-1]) in STARTED]
    assert not own


def session_folders() -> set[str]:
    root = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    return {folder.name for folder in Path(root, "ray").glob("session_*_*")}


@pytest.mark.timeout(300)
def test_B46_a_training_ends_with_its_last_step_and_leaves_no_process(
    mark: str, tmp_path: Path
) -> None:
    with start(mark, PROGRAM, str(tmp_path), "600") as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START + SECONDS_TO_END)
    assert process.returncode == 0, output


@pytest.mark.timeout(300)
def test_one_ray_serves_a_training_and_all_its_evaluations(mark: str, tmp_path: Path) -> None:
    evaluations = ["engine.evaluation_interval=2", "engine.evaluation_episodes=1"]
    evaluations += ["engine.final_evaluation_episodes=1", "engine.evaluation_num_envs=1"]
    with start(mark, PROGRAM, str(tmp_path), "256", *SMALL, *evaluations) as process:
        output, _ = process.communicate(timeout=2 * SECONDS_TO_START)
    assert process.returncode == 0, output
    assert output.count("connecting") == 1


@pytest.mark.timeout(300)
def test_a_later_evaluation_of_a_run_on_ray_leaves_nothing(mark: str, tmp_path: Path) -> None:
    with start(mark, PROGRAM, str(tmp_path / "evaluate"), "128", *SMALL) as process:
        output, _ = process.communicate(timeout=2 * SECONDS_TO_START)
    assert process.returncode == 0, output
    assert "returned" in output
    assert output.count("connecting") == 2


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", [0.5, 2.0])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_a_signal_while_ray_starts_leaves_nothing(
    mark: str, tmp_path: Path, number: int, code: int, seconds: float
) -> None:
    with start(mark, PROGRAM, str(tmp_path), "10_000_000") as process:
        read_until(process, "connecting")
        time.sleep(seconds)
        process.send_signal(number)
        output, _ = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode in (code, -number), output
    assert "Traceback" not in output or "KeyboardInterrupt" in output
    assert list(tmp_path.iterdir()) == [], "a run that never began leaves no folder"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_training_and_all_its_processes(
    mark: str, tmp_path: Path, number: int
) -> None:
    with start(mark, PROGRAM, str(tmp_path), "10_000_000") as process:
        read_until(process, "iteration")
        process.send_signal(number)
        output, _ = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 0, output
    assert "ending after this iteration" in output


def test_an_exception_ends_all_processes(mark: str) -> None:
    with start(mark, FAILING_PROGRAM) as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert "the program breaks off" in output


def test_without_a_cluster_at_the_address_the_error_names_it(mark: str) -> None:
    program = (
        "from rlightning.runtime.ray.ray_runtime import RayRuntime\n"
        "from rlightning.runtime.ray.session import RaySettings\n"
        "RayRuntime(RaySettings(address='127.0.0.1:1'))\n"
    )
    with start(mark, program) as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert f"{WorkerError.__name__}: expected to join the Ray cluster at '127.0.0.1:1'" in output
