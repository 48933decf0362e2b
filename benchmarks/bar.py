"""One bar, what was measured for it, and how a table of them looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One bar with its figure.

    Attributes:
        name: What is asked for.
        command: What measures it.
        figure: What came out.
        is_met: Whether the figure reaches the bar.
    """

    name: str
    command: str
    figure: str
    is_met: bool

    @property
    def verdict(self) -> str:
        """One word."""
        return "met" if self.is_met else "short"


def table(bars: Sequence[Bar]) -> str:
    """Return the bars as lines of text, in columns."""
    rows = [("bar", "command", "figure", "")]
    rows += [(bar.name, bar.command, bar.figure, bar.verdict) for bar in bars]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)
