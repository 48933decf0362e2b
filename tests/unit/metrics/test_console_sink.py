from __future__ import annotations

import io

import pytest
from rich.console import Console

from rlightning.metrics.console_lines import ConsoleLines
from rlightning.metrics.console_sink import choose_console_sink
from rlightning.metrics.live_panel import LivePanel


def console(is_terminal: bool, term: str = "xterm") -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, _environ={"TERM": term})


@pytest.mark.parametrize(
    ("live", "console", "expected"),
    [
        ("auto", console(is_terminal=True), LivePanel),
        ("auto", console(is_terminal=False), ConsoleLines),
        ("auto", console(is_terminal=True, term="dumb"), ConsoleLines),
        ("panel", console(is_terminal=False), LivePanel),
        ("lines", console(is_terminal=True), ConsoleLines),
        ("off", console(is_terminal=True), type(None)),
    ],
)
def test_a_panel_for_terminals_and_lines_for_everything_else(live, console, expected):
    assert type(choose_console_sink(live, console, 1000)) is expected
