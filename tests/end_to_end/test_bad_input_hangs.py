"""An environment that hangs ends the command, as a person sees it: on a terminal, with a panel."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

HANGING = "rlightning.testing.environments:Hanging-v0"
RAISING = "rlightning.testing.environments:Raising-v0"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True)
class Ending:
    """How a command ended, and what stood on its terminal and on stderr."""

    code: int
    screen: str
    errors: str


def _run_on_a_terminal(folder: Path, *words: str) -> Ending:
    terminal, screen_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rlightning.cli.main", *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TERM": "xterm", "COLUMNS": "100"},
        stdout=screen_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(screen_end)
    shown: list[bytes] = []
    reader = threading.Thread(target=_read_to_the_end, args=(terminal, shown))
    reader.start()
    try:
        _, errors = process.communicate(timeout=DEADLINE_SECONDS)
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(terminal)
    return Ending(process.returncode, b"".join(shown).decode(errors="replace"), errors)


def _read_to_the_end(terminal: int, shown: list[bytes]) -> None:
    try:
        while chunk := os.read(terminal, 4096):
            shown.append(chunk)
    except OSError:  # the other end was closed by the process that ended
        return


@pytest.fixture
def train_on_a_terminal(
    folder: Path, tiny_words: Callable[[tuple[str, ...]], list[str]]
) -> Callable[..., Ending]:
    """Train with the live panel until it fails; the terminal must be as before."""

    def run(*settings: str) -> Ending:
        words = tiny_words(("logging.live=panel", *settings))
        ending = _run_on_a_terminal(folder, "train", "cartpole-ppo", *words)
        assert HIDE_CURSOR in ending.screen
        assert ending.screen.rfind(SHOW_CURSOR) > ending.screen.rfind(HIDE_CURSOR)
        assert "Traceback" not in ending.errors
        assert ending.errors.count("error:") == 1
        return ending

    return run


def test_inline_a_watchdog_names_environment_and_step_and_ends_the_process(
    train_on_a_terminal: Callable[..., Ending],
    done: Callable[..., str],
    checkpoints: Callable[[], list[str]],
) -> None:
    ending = train_on_a_terminal(
        f"env.id={HANGING}", "env.kwargs.at_step=20", "env.timeout_seconds=1", "cluster.mode=inline"
    )
    assert ending.code == 70
    assert ending.errors.startswith("error: worker 'env-0' hangs in step() since ")
    assert f"(environment '{HANGING}' (env-0), step 20); its limit is 1 s" in ending.errors
    assert "raise its limit (env.timeout_seconds" in ending.errors
    assert 'testing/environments.py", line' in ending.errors, "the stacks show where it hangs"
    assert "rlightning resume runs/" in ending.screen
    assert len(checkpoints()) == 2
    assert "128 steps" in done("resume", "latest", "env.kwargs.at_step=1_000_000")


def test_with_threads_the_wait_raises_at_its_deadline(
    train_on_a_terminal: Callable[..., Ending],
    done: Callable[..., str],
    checkpoints: Callable[[], list[str]],
) -> None:
    ending = train_on_a_terminal(
        f"env.id={HANGING}", "env.kwargs.at_step=20", "env.timeout_seconds=1",
        "cluster.mode=threads",
    )  # fmt: skip
    assert ending.code == 1
    assert "expected room for step() at env-" in ending.errors
    assert "within 1 s, got none" in ending.errors
    assert f"(environment '{HANGING}' (env-" in ending.errors
    assert "step 20)" in ending.errors
    assert ending.errors.splitlines()[-1].startswith("go on from the last checkpoint with: ")
    assert len(checkpoints()) == 2
    assert "128 steps" in done("resume", "latest", "env.kwargs.at_step=1_000_000")


def test_an_error_gives_the_terminal_back(train_on_a_terminal: Callable[..., Ending]) -> None:
    ending = train_on_a_terminal(f"env.id={RAISING}", "env.kwargs.at_step=20")
    assert ending.code == 1
    first, second = ending.errors.splitlines()
    assert first.startswith(f"error: environment '{RAISING}' (env-0), step 20: expected an answer")
    assert second.startswith("go on from the last checkpoint with: rlightning resume runs/")
