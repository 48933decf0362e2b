"""A Ray of our own leaves nothing; one that we join stays as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.errors import WorkerError

MARK = "RLIGHTNING_TEST_MARK"
SECONDS_TO_START = 60.0
SECONDS_TO_END = 30.0

PROGRAM = """
import sys
from rlightning import train
train(
    "cartpole-ppo",
    ["cluster.backend=ray", "logging.live=lines", "logging.folder=" + sys.argv[1],
     "engine.total_env_steps=" + sys.argv[2], "engine.final_evaluation_episodes=0", *sys.argv[3:]],
)
"""

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


def test_B46_a_training_ends_with_its_last_step_and_leaves_no_process(
    mark: str, tmp_path: Path
) -> None:
    with start(mark, PROGRAM, str(tmp_path), "600") as process:
        output, _ = process.communicate(timeout=SECONDS_TO_START + SECONDS_TO_END)
    assert process.returncode == 0, output


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
