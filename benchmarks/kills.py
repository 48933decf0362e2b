"""Whether anything is lost when processes are killed with SIGKILL at random moments.

python -m benchmarks.bars kills
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bar import Bar
from rlightning.testing.checkpoint_kills import count_kills
from rlightning.testing.resumed_run import resume_faults
from rlightning.testing.run_killer import RunKiller

NUM_RUNS = 4
NUM_KILLS_EACH_RUN = 5
NUM_WRITER_KILLS = 200


def kill_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Kill runs and resume them, then kill a writer of checkpoints; one bar each."""
    yield _run_bar(*((1, 2) if is_quick else (NUM_RUNS, NUM_KILLS_EACH_RUN)))
    yield _writer_bar(5 if is_quick else NUM_WRITER_KILLS)


def _run_bar(num_runs: int, num_kills_each_run: int) -> Bar:
    num_kills = num_good = 0
    for seed in range(num_runs):
        for faults in _killed_run(seed, num_kills_each_run):
            num_kills += 1
            num_good += not faults
            print(f"  kill {num_kills}: {'; '.join(faults) or 'everything restored'}", flush=True)
    return Bar(
        "a run killed at a random moment goes on with all of its state",
        "rlightning train | resume, SIGKILL, resume",
        f"{num_good} of {num_kills} kills",
        num_good == num_kills,
    )


def _killed_run(seed: int, num_kills: int) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        runs.mkdir()
        killer = RunKiller(runs, seed)
        for number in range(num_kills):
            killed = killer.kill_once()
            scratch = Path(folder) / f"kill-{number}"
            scratch.mkdir()
            yield resume_faults(killed, scratch)


def _writer_bar(num_kills: int) -> Bar:
    with tempfile.TemporaryDirectory() as folder:
        counts = count_kills(Path(folder), num_kills)
    return Bar(
        "no checkpoint is lost to a kill while one is written",
        "rlightning.testing.checkpoint_kills",
        f"{counts.num_lost} lost in {counts.num_kills} kills, "
        f"{counts.num_in_the_middle} of them in the middle of a file",
        counts.num_lost == 0,
    )
