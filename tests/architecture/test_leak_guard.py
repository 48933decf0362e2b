"""The guard of tests/conftest.py fails a test that leaves something running."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# What is left ends by itself soon after: the process with the pipe, the thread with the event.
TESTS_THAT_LEAVE_SOMETHING = """
import subprocess, sys, threading

left = []

def test_leaves_a_process():
    waits_for_input = [sys.executable, "-c", "input()"]
    left.append(subprocess.Popen(waits_for_input, stdin=subprocess.PIPE))

def test_leaves_a_thread():
    event = threading.Event()
    threading.Thread(target=event.wait, args=(3,)).start()

def test_leaves_nothing():
    subprocess.run([sys.executable, "-c", ""], check=True)
    threading.Thread(target=int).start()
"""


def test_a_test_that_leaves_something_running_fails(root: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "test_leak.py").write_text(TESTS_THAT_LEAVE_SOMETHING)
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-rE", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    assert "3 passed, 2 errors" in answer.stdout
    assert "ERROR test_leak.py::test_leaves_a_process" in answer.stdout
    assert "ERROR test_leak.py::test_leaves_a_thread" in answer.stdout
