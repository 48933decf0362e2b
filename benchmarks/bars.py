"""What takes too long, or is too random, for every run of the tests: each bar with its figure.

    python -m benchmarks.bars [NAME ...] [--json PATH] [--quick]

Everything runs one after the other, so that nothing slows down what is measured. The exit code is
1 if a bar is short.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path

from benchmarks.bar import Bar, table
from benchmarks.measured_bars import measured_bars
from rlightning.errors import RLightningError
from rlightning.registry import did_you_mean

Measure = Callable[[bool], Iterator[Bar]]


def _later(module: str, function: str) -> Measure:
    """Return what imports a group only to measure it.

    Every process that is forked to be killed imports this module again, so it stays light.
    """

    def measure(is_quick: bool) -> Iterator[Bar]:
        bars: Iterator[Bar] = getattr(import_module(module), function)(is_quick)
        return bars

    return measure


GROUPS: dict[str, Measure] = {
    "fresh": _later("benchmarks.fresh_clone", "fresh_clone_bars"),
    "learn": _later("benchmarks.learning", "learning_bars"),
    "router": lambda is_quick: measured_bars("router"),
    "overhead": lambda is_quick: measured_bars("overhead"),
    "peers": lambda is_quick: measured_bars("peers"),
    "cluster": lambda is_quick: measured_bars("cluster"),
    "cluster-learning": _later("benchmarks.cluster_learning", "cluster_learning_bars"),
    "kills": _later("benchmarks.kills", "kill_bars"),
    "faults": _later("benchmarks.faults", "fault_bars"),
    "memory": _later("benchmarks.cluster_memory", "memory_bars"),
    "topologies": _later("benchmarks.topologies", "topology_bars"),
}


def main(arguments: Sequence[str]) -> int:
    """Measure the groups of bars that were named, print a table, and return the exit code."""
    options = _parsed(arguments)
    bars: list[Bar] = []
    for name in options.names or GROUPS:
        for bar in _bars_of(name, partial(GROUPS[name], options.quick)):
            print(f"{name}: {bar.name}: {bar.figure}: {bar.verdict}", flush=True)
            bars.append(bar)
    print(f"\n{table(bars)}")
    if options.json is not None:
        options.json.write_text(json.dumps(_record(bars, options.quick), indent=2) + "\n")
    return int(not all(bar.is_met for bar in bars))


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.bars", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", type=_group_name)
    parser.add_argument("--json", metavar="PATH", type=Path, help="write the bars there too")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="train little and kill seldom: tries this program out, proves no bar",
    )
    return parser.parse_args(arguments)


def _group_name(text: str) -> str:
    if text not in GROUPS:
        raise argparse.ArgumentTypeError(
            f"expected one of {', '.join(GROUPS)}, got {text!r}{did_you_mean(text, GROUPS)}"
        )
    return text


def _bars_of(name: str, measure: Callable[[], Iterator[Bar]]) -> Iterator[Bar]:
    """Yield the bars of a group; one that fails is short, and the next groups are measured."""
    try:
        yield from measure()
    except subprocess.CalledProcessError as error:
        last = ((error.stderr or error.stdout or "").strip().splitlines() or ["no message"])[-1]
        yield Bar(name, str(error.cmd), f"failed with code {error.returncode}: {last}", False)
    except (OSError, ValueError, RLightningError) as error:
        yield Bar(name, f"python -m benchmarks.bars {name}", f"failed: {error}", False)


def _record(bars: Sequence[Bar], is_quick: bool) -> dict[str, object]:
    return {
        "python": sys.version,
        "machine": platform.platform(),
        "num_cpus": os.cpu_count(),
        "is_quick": is_quick,
        "bars": [asdict(bar) for bar in bars],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
