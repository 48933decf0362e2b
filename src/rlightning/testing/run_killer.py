"""Trains a run with the real command and kills it at random moments, again and again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rlightning.engine.run_lock import LOCK_NAME
from rlightning.errors import RunFolderError

COMMAND = (sys.executable, "-m", "rlightning.cli.main")
SETTINGS = (
    "engine.total_env_steps=100_000_000",
    "engine.rollout_length=32",
    "engine.checkpoint_interval=1",
    "algorithm.minibatch_size=64",
    "algorithm.num_epochs=2",
    "algorithm.normalize_rewards=true",
    "policy.normalize_observations=true",
    "cluster.mode=inline",
    "logging.live=off",
)
START_TIMEOUT_SECONDS = 120.0
MAX_DELAY_SECONDS = 1.0


class RunKiller:
    """One run whose process is killed with SIGKILL, and which goes on after each kill.

    The moment is a random time after the first checkpoint; of a run that goes on, every second
    time, a random time after it has begun, before or after its first new checkpoint.

    Args:
        root: Folder of runs, empty.
        seed: Of the moments, and of the run.
        preset: What is trained.
    """

    def __init__(self, root: Path, seed: int = 0, preset: str = "cartpole-ppo") -> None:
        self._root = root
        self._first_words = ["train", preset, *SETTINGS, f"seed={seed}", f"logging.folder={root}"]
        self._moments = random.Random(seed)  # noqa: S311  chooses moments, keeps no secret
        self._num_kills = 0

    def kill_once(self) -> Path:
        """Start or go on with the run, kill it, and return its folder as the kill left it.

        Raises:
            RunFolderError: If the process ends by itself or does not begin in time.
        """
        newest = self._newest_checkpoint()
        words = ["resume", str(self._folder())] if self._num_kills else self._first_words
        process = subprocess.Popen(  # noqa: S603  starts this very program
            [*COMMAND, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            if self._num_kills % 2:
                _wait_until(lambda: self._is_taken_by(process.pid), process)
            else:
                _wait_until(lambda: self._newest_checkpoint() != newest, process)
            time.sleep(self._moments.uniform(0.0, MAX_DELAY_SECONDS))
            _refuse_ended(process)
        finally:
            process.kill()
            process.communicate()
        self._num_kills += 1
        return self._folder()

    def _folder(self) -> Path:
        (folder,) = self._root.iterdir()
        return folder

    def _newest_checkpoint(self) -> str | None:
        return max((path.name for path in self._root.glob("*/checkpoints/*.pt")), default=None)

    def _is_taken_by(self, process_id: int) -> bool:
        return (self._folder() / LOCK_NAME).read_text() == f"{process_id}\n"


def _wait_until(has_begun: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while not has_begun():
        _refuse_ended(process)
        if time.monotonic() > deadline:
            raise RunFolderError(
                f"expected the run to begin within {START_TIMEOUT_SECONDS:g} seconds, it did not; "
                "use a machine that has less to do"
            )
        time.sleep(0.005)


def _refuse_ended(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        message = process.communicate()[1].decode(errors="replace")
        raise RunFolderError(
            f"expected the run to go on until it is killed, it ended with code "
            f"{process.returncode}; mend the cause: {message}"
        )
