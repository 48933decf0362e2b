"""Colours of the pictures, for light and for dark pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours.

    Attributes:
        name: ``light`` or ``dark``.
        background: Of the picture.
        text: Of labels and axes.
        grid: Of the lines behind the data.
        series: For lines and areas, in order; tell apart also for the colour-blind. Source:
            Okabe and Ito, "Color Universal Design", 2008, reordered for contrast.
    """

    name: str
    background: str
    text: str
    grid: str
    series: tuple[str, ...]

    def settings(self) -> dict[Any, Any]:
        """Return Matplotlib's settings for this theme."""
        return {
            "figure.facecolor": self.background,
            "axes.facecolor": self.background,
            "savefig.facecolor": self.background,
            "text.color": self.text,
            "axes.labelcolor": self.text,
            "axes.edgecolor": self.grid,
            "axes.titlecolor": self.text,
            "xtick.color": self.text,
            "ytick.color": self.text,
            "grid.color": self.grid,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "font.size": 10,
            "legend.frameon": False,
            "legend.labelcolor": self.text,
        }


LIGHT = Theme(
    name="light",
    background="#ffffff",
    text="#24292f",
    grid="#d8dee4",
    series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
)
DARK = Theme(
    name="dark",
    background="#15191e",
    text="#d7dde3",
    grid="#39424c",
    series=("#56b4e9", "#e69f00", "#2bc48f", "#e39bc2", "#f0e442", "#6f9fd8"),
)
