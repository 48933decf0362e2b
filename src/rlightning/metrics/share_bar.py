"""One bar cut into parts, and a legend with each part's share."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

MAX_PARTS = 8
_COLORS = ("cyan", "yellow", "magenta", "green", "blue", "red")
_FILLS = "█▓▒░"
"""Neighbours differ in fill too, so that the bar can be read without colours."""


class ShareBar:
    """A bar over the whole width with its legend below; small parts beyond `MAX_PARTS` as one.

    Args:
        amounts: What to compare, by name; in any one unit.
    """

    def __init__(self, amounts: Mapping[str, float]) -> None:
        self._amounts = _at_most(amounts, MAX_PARTS)
        self._total = sum(amounts.values())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._total <= 0:
            yield Text("nothing yet", style="dim")
            return
        yield self._bar(options.max_width)
        yield self._legend()

    def _bar(self, width: int) -> Text:
        bar = Text(no_wrap=True)
        amount_before = 0.0
        for position, amount in enumerate(self._amounts.values()):
            first = round(width * amount_before / self._total)
            last = round(width * (amount_before + amount) / self._total)
            bar.append(_fill(position) * (last - first), style=_color(position))
            amount_before += amount
        return bar

    def _legend(self) -> Text:
        parts = []
        for position, (name, amount) in enumerate(self._amounts.items()):
            swatch = Text(_fill(position), style=_color(position))
            parts.append(swatch.append(f"\u00a0{name}\u00a0{amount / self._total:.0%}", "default"))
        return Text("  ").join(parts)


def _at_most(amounts: Mapping[str, float], max_parts: int) -> dict[str, float]:
    if len(amounts) <= max_parts:
        return dict(amounts)
    largest = sorted(amounts, key=lambda name: -amounts[name])[: max_parts - 1]
    shown = {name: amount for name, amount in amounts.items() if name in largest}
    rest = sum(amounts.values()) - sum(shown.values())
    return {**shown, f"{len(amounts) - len(shown)}\u00a0others": rest}


def _color(position: int) -> str:
    return _COLORS[position % len(_COLORS)]


def _fill(position: int) -> str:
    return _FILLS[position % len(_FILLS)]
