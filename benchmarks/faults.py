"""Whether training on Ray survives faults at random moments, and tells exactly what was lost.

    python -m benchmarks.faults [--kind NAME ...] [--runs N] [--full] [--seed S] [--json PATH]

Each short run (about 2,000 steps) has one fault; what the run tells is compared with what was
seen beside it. With ``--full``, runs of the preset's length, whose policy must be as good as one
of a run without a fault. The exit code is 1 if anything is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.bar import Bar
from benchmarks.fault_series import FaultSeries, run_full, run_short
from rlightning.testing.faults.kinds import FAULT_KINDS

NUM_SHORT_RUNS = 20
NUM_FULL_RUNS = 3


def fault_bars(is_quick: bool = False) -> Iterator[Bar]:
    """Measure all kinds; two bars for each."""
    for name in FAULT_KINDS:
        yield _bar(run_short(name, 1 if is_quick else NUM_SHORT_RUNS))
        if not is_quick:
            yield _bar(run_full(name, NUM_FULL_RUNS))


def _bar(series: FaultSeries) -> Bar:
    option = " --full" if series.is_full else ""
    name = "as good as an undisturbed run" if series.is_full else "nothing lost beyond what is told"
    return Bar(
        f"{series.what}: {name}",
        f"python -m benchmarks.faults --kind {series.kind}{option}",
        f"{series.num_sound} of {len(series.runs)} runs",
        series.num_sound == len(series.runs),
    )


def main(arguments: Sequence[str]) -> int:
    """Run the named kinds, print a line for each, and return the exit code."""
    options = _parsed(arguments)
    run = run_full if options.full else run_short
    num_runs = options.runs or (NUM_FULL_RUNS if options.full else NUM_SHORT_RUNS)
    all_series = []
    for name in options.kind or FAULT_KINDS:
        series = run(name, num_runs, options.seed)
        all_series.append(series)
        print(series, flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(own) for own in all_series], indent=2) + "\n")
    return int(any(own.num_sound < len(own.runs) for own in all_series))


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--kind", action="append", choices=FAULT_KINDS, help="only this kind")
    parser.add_argument("--runs", type=int, help="of each kind")
    parser.add_argument("--full", action="store_true", help="runs as long as the preset's")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--json", metavar="PATH", type=Path, help="write what was found there")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
