"""Whether `make train` in a fresh clone learns, and how long it takes after installation.

    python -m benchmarks.bars fresh

The clone holds what is committed. Installing downloads packages.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bar import Bar
from benchmarks.learning import TASKS, final_evaluation, is_reached, shown

ROOT = Path(__file__).parent.parent
MAX_SECONDS = 180.0


def fresh_clone_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Clone, install untimed, train timed. There is no quicker way, so a quick call leaves it out.

    Yields:
        One bar.
    """
    if is_quick:
        return
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "rlightning"
        _run(["git", "clone", "--quiet", str(ROOT), str(clone)], ROOT)
        _run(["make", ".venv/installed-to-run"], clone)
        started = time.monotonic()
        _run(["make", "train"], clone)
        seconds = time.monotonic() - started
        evaluation = final_evaluation(clone / "runs")
    task = TASKS[0]
    yield Bar(
        f"make train in a fresh clone: >= {task.min_return:g} in under {MAX_SECONDS:.0f} s",
        "make train",
        shown(evaluation, seconds),
        is_reached(evaluation, task) and seconds < MAX_SECONDS,
    )


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
