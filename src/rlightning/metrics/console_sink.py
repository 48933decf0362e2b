"""Which way of showing progress suits where the output goes."""

from __future__ import annotations

from typing import Literal

from rich.console import Console

from rlightning.metrics.console_lines import ConsoleLines
from rlightning.metrics.live_panel import LivePanel
from rlightning.metrics.sink import Sink


def choose_console_sink(
    live: Literal["auto", "panel", "lines", "off"],
    console: Console,
    total_env_steps: int,
    title: str = "",
    seconds_between_lines: float = 0.0,
) -> Sink | None:
    """Return the sink that shows progress, or None if nothing is to be shown.

    Args:
        live: ``auto`` is a panel on a terminal that can redraw, and lines elsewhere.
        console: Where to show it.
        total_env_steps: Steps at which the run is complete.
        title: On top of the panel, such as the name of the run.
        seconds_between_lines: Least time between two lines.
    """
    if live == "off":
        return None
    can_redraw = console.is_terminal and not console.is_dumb_terminal
    if live == "panel" or (live == "auto" and can_redraw):
        return LivePanel(console, total_env_steps, title)
    return ConsoleLines(console, total_env_steps, seconds_between_lines)
