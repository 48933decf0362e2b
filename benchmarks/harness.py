"""Measuring two ways of doing the same in turns, and reporting figures against their bars.

Both ways alternate within one run, so that other load on the machine meets both; what is reported
are medians.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

Work = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """One measured row.

    Attributes:
        name: What was measured.
        seconds: Median time of one call.
        reference_seconds: Median time of the plain reference for the same work.
        ratio: What the bar applies to.
        bar: Least ratio that passes; None where the row only informs.
    """

    name: str
    seconds: float
    reference_seconds: float
    ratio: float
    bar: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the ratio reaches the bar."""
        return self.bar is None or self.ratio >= self.bar


def seconds_of(work: Work, num_calls: int = 1) -> float:
    """Return how long one call takes, averaged over some in a row."""
    start = time.perf_counter()
    for _ in range(num_calls):
        work()
    return (time.perf_counter() - start) / num_calls


def interleaved_medians(works: Sequence[tuple[Work, int]], num_rounds: int) -> tuple[float, ...]:
    """Time each work (with its calls per round) once per round; return the median of each."""
    rounds = [[seconds_of(work, calls) for work, calls in works] for _ in range(num_rounds)]
    return tuple(statistics.median(times) for times in zip(*rounds, strict=True))


def report(figures: Sequence[Figure], arguments: Sequence[str]) -> int:
    """Print the table; ``--json PATH`` writes it too, ``--check`` makes a missed bar an error.

    Returns:
        The exit code.
    """
    print(f"{'call':<58}{'time':>12}{'reference':>13}{'ratio':>9}{'bar':>8}")
    for figure in figures:
        bar, verdict = ("-", "") if figure.bar is None else (f"{figure.bar:.2f}", _verdict(figure))
        print(
            f"{figure.name:<58}{figure.seconds * 1e6:>9.2f} us"
            f"{figure.reference_seconds * 1e6:>10.2f} us{figure.ratio:>9.2f}{bar:>8}  {verdict}"
        )
    if "--json" in arguments:
        rows = [{**asdict(figure), "is_met": figure.is_met} for figure in figures]
        path = Path(arguments[arguments.index("--json") + 1])
        path.write_text(json.dumps({"python": sys.version, "figures": rows}, indent=2) + "\n")
    is_missed = not all(figure.is_met for figure in figures)
    return int("--check" in arguments and is_missed)


def _verdict(figure: Figure) -> str:
    return "pass" if figure.is_met else "short"
