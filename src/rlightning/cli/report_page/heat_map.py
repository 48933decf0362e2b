"""Requests by environment worker and replica, as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rlightning.cli.report_page.run_data import RunData
from rlightning.cli.report_page.theme import Theme
from rlightning.metrics.readable_numbers import readable_count

MAX_CELLS_WITH_NUMBERS = 160
MAX_LABELS = 24


def draw_task_counts(run: RunData, theme: Theme) -> Figure | None:
    """Return the heat map, with numbers in the cells where they fit, or None without data."""
    workers, replicas, counts = run.task_counts()
    if counts.size == 0:
        return None
    height = float(np.clip(1.2 + 0.38 * len(workers), 2.4, 9.0))
    figure = Figure(figsize=(9.0, height), layout="constrained")
    axes = figure.subplots()
    ramp = LinearSegmentedColormap.from_list("tasks", [theme.background, theme.series[0]])
    image = axes.pcolormesh(counts, cmap=ramp, vmin=0, edgecolors=theme.background, linewidth=1.5)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    _label(axes, workers, replicas)
    if counts.size <= MAX_CELLS_WITH_NUMBERS and len(replicas) <= 12:
        _write_numbers(axes, counts, theme)
    colorbar = figure.colorbar(image, ax=axes)
    colorbar.set_label("requests")
    colorbar.outline.set_edgecolor(theme.grid)
    return figure


def _label(axes: Axes, workers: list[str], replicas: list[str]) -> None:
    rows = range(0, len(workers), 1 + len(workers) // MAX_LABELS)
    columns = range(0, len(replicas), 1 + len(replicas) // MAX_LABELS)
    axes.set_yticks([row + 0.5 for row in rows], [workers[row] for row in rows])
    rotation = 0 if len(replicas) <= 10 else 60
    labels = [replicas[column] for column in columns]
    axes.set_xticks([column + 0.5 for column in columns], labels, rotation=rotation)
    axes.tick_params(length=0)
    axes.set(xlabel="replica", ylabel="environment worker")


def _write_numbers(axes: Axes, counts: NDArray[np.int64], theme: Theme) -> None:
    middle = counts.max() / 2
    centered: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9}
    for (row, column), count in np.ndenumerate(counts):
        color = theme.background if count > middle else theme.text
        axes.text(column + 0.5, row + 0.5, readable_count(int(count)), color=color, **centered)
