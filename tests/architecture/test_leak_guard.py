"""The guard of tests/conftest.py fails a test that leaves something running."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEAVES_A_PROCESS = """
import subprocess, sys

def test_leaves_a_process():
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
"""
LEAVES_A_THREAD = """
import threading, time

def test_leaves_a_thread():
    threading.Thread(target=time.sleep, args=(4,)).start()
"""
LEAVES_NOTHING = """
import subprocess, sys, threading

def test_leaves_nothing():
    subprocess.run([sys.executable, "-c", ""], check=True)
    threading.Thread(target=int).start()
"""


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        pytest.param(LEAVES_A_PROCESS, "1 passed, 1 error", id="process"),
        pytest.param(LEAVES_A_THREAD, "1 passed, 1 error", id="thread"),
        pytest.param(LEAVES_NOTHING, "1 passed in", id="nothing"),
    ],
)
def test_a_test_that_leaves_something_running_fails(
    root: Path, tmp_path: Path, text: str, outcome: str
) -> None:
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "test_leak.py").write_text(text)
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    assert outcome in answer.stdout
