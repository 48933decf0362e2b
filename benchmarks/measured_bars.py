"""The bars of benchmarks that are programs of their own, from the files they write."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bar import Bar

ROOT = Path(__file__).parent.parent


def measured_bars(benchmark: str) -> Iterator[Bar]:
    """Run a benchmark in a process of its own; one bar for each row that has one."""
    command = ["-m", f"benchmarks.{benchmark}", "--check"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        answer = subprocess.run(
            [sys.executable, *command, "--json", str(path)],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        if not path.is_file():
            raise subprocess.CalledProcessError(
                answer.returncode, answer.args, answer.stdout, answer.stderr
            )
        figures = json.loads(path.read_text())["figures"]
    for figure in figures:
        if figure["bar"] is not None:
            yield Bar(
                f"{figure['name'].strip()} >= {figure['bar']:.2f} x",
                " ".join(["python", *command]),
                f"{figure['ratio']:.2f} x ({figure['seconds'] * 1e6:.1f} us, "
                f"reference {figure['reference_seconds'] * 1e6:.1f} us)",
                figure["is_met"],
            )
