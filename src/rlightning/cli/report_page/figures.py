"""The pictures of a report, as functions from a run to a figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from rlightning.cli.report_page.heat_map import draw_task_counts
from rlightning.cli.report_page.run_data import RETURN_MEAN, RunData
from rlightning.cli.report_page.theme import Theme
from rlightning.metrics.names import describe_metric

WIDTH_INCHES = 9.0
MAX_POINTS_WITH_MARKERS = 30
MAX_POINTS_WITH_THICK_LINES = 100


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of the report.

    Attributes:
        name: Of its file, without the ending.
        title: Above it.
        caption: What to read from it.
        draw: Draws it; None if the run has no such data.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[RunData, Theme], Figure | None]


def draw_learning_curve(run: RunData, theme: Theme) -> Figure | None:
    """Return mean returns with their spread, one plot for each environment."""
    environments = [e for e in run.environments() if run.has(_of(e, RETURN_MEAN))]
    if not environments:
        return None
    figure = _figure(height_inches=3.6 * len(environments))
    plots = figure.subplots(len(environments), 1, squeeze=False, sharex=True)[:, 0]
    for axes, environment in zip(plots, environments, strict=True):
        _draw_returns(axes, run, environment, theme)
    _label_steps(plots[-1])
    return figure


def draw_losses(run: RunData, theme: Theme) -> Figure | None:
    """Return one small plot for each quantity of the algorithm, a line for each environment."""
    names = run.algorithm_names()
    quantities = list(dict.fromkeys(name.rpartition("/")[2] for name in names))
    if not quantities:
        return None
    num_rows = math.ceil(len(quantities) / 3)
    figure = _figure(height_inches=2.3 * num_rows)
    plots = figure.subplots(num_rows, 3, squeeze=False, sharex=True).ravel()
    for axes, quantity in zip(plots, quantities, strict=False):
        lines = [name for name in names if name.rpartition("/")[2] == quantity]
        _draw_quantity(axes, run, lines, theme)
        axes.set_title(quantity.replace("_", " "))
        axes.set_ylabel(describe_metric(quantity).unit)
    for axes in plots[len(quantities) :]:
        axes.set_visible(False)
    for axes in plots[max(0, len(quantities) - 3) : len(quantities)]:
        _label_steps(axes)
        axes.tick_params(labelbottom=True)
    _legend_of_environments(plots[0], [n for n in names if n.endswith(quantities[0])])
    return figure


def draw_throughput(run: RunData, theme: Theme) -> Figure | None:
    """Return environment steps per second over time."""
    figure = _figure(height_inches=2.8)
    axes = figure.subplots()
    unit, seconds_of_unit = _time_unit(run.column("seconds")[-1])
    time, speed = run.column("seconds") / seconds_of_unit, run.column("steps_per_second")
    _line(axes, time, speed, theme.series[0])
    mean = run.column("env_steps")[-1] / max(run.column("seconds")[-1], 1e-9)
    axes.axhline(mean, color=theme.series[1], linestyle="--", label="mean over the whole run")
    axes.set(xlabel=f"time ({unit})", ylabel="steps per second")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.legend(loc="lower right")
    return figure


def draw_time_shares(run: RunData, theme: Theme) -> Figure | None:
    """Return where the time of each iteration went, as shares of the whole."""
    phases = run.family("time")
    seconds = np.array([np.nan_to_num(run.column(f"time/{phase}")) for phase in phases])
    if not phases or not seconds.any():
        return None
    shares = seconds / np.maximum(seconds.sum(axis=0), 1e-12)
    figure = _figure(height_inches=3.0)
    axes = figure.subplots()
    steps = run.column("env_steps")
    if len(steps) == 1:
        steps, shares = np.array([0.0, steps[0]]), np.repeat(shares, 2, axis=1)
    labels = [
        f"{phase.removesuffix('_seconds')} {share:.0%}"
        for phase, share in zip(phases, seconds.sum(axis=1) / seconds.sum(), strict=True)
    ]
    axes.stackplot(steps, shares, labels=labels, colors=theme.series, linewidth=0)
    axes.set(ylim=(0, 1), xlim=(steps[0], steps[-1]), ylabel="share of time")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _label_steps(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True, title="whole run")
    return figure


PICTURES = (
    Picture(
        "learning_curve",
        "Learning curve",
        "Mean return of the last 100 episodes; the band is one standard deviation of them.",
        draw_learning_curve,
    ),
    Picture("losses", "Losses", "Quantities of the update, one value an iteration.", draw_losses),
    Picture("throughput", "Throughput", "Environment steps per second over time.", draw_throughput),
    Picture(
        "time_shares",
        "Where the time goes",
        "Share of each phase in the time of an iteration.",
        draw_time_shares,
    ),
    Picture(
        "task_counts",
        "Who answered whom",
        "Requests over the whole run, by environment worker and replica.",
        draw_task_counts,
    ),
)
"""All pictures, in the order of the page."""


def _time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit that suits a length of time, and its seconds."""
    if seconds < 180:
        return "seconds", 1.0
    return ("minutes", 60.0) if seconds < 3 * 3600 else ("hours", 3600.0)


def _figure(height_inches: float) -> Figure:
    return Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")


def _of(environment: str, name: str) -> str:
    return f"{environment}/{name}" if environment else name


def _draw_returns(axes: Axes, run: RunData, environment: str, theme: Theme) -> None:
    steps = run.column("env_steps")
    mean = run.column(_of(environment, RETURN_MEAN))
    spread = np.nan_to_num(run.column(_of(environment, "episode_return_std")))
    color = theme.series[0]
    axes.fill_between(steps, mean - spread, mean + spread, color=color, alpha=0.25, linewidth=0)
    _line(axes, steps, mean, color, "training, mean of the last 100 episodes")
    evaluation = run.column("evaluation/return_mean")
    if not environment and np.isfinite(evaluation).any():
        axes.plot(steps, evaluation, "D", color=theme.series[1], label="evaluation, mean")
    axes.set_ylabel("return")
    axes.set_title(environment)
    axes.legend(loc="best")


def _draw_quantity(axes: Axes, run: RunData, names: Sequence[str], theme: Theme) -> None:
    for position, name in enumerate(names):
        color = theme.series[position % len(theme.series)]
        _line(axes, run.column("env_steps"), run.column(name), color)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)


def _legend_of_environments(axes: Axes, names: Sequence[str]) -> None:
    labels = [name.rpartition("/")[0] for name in names]
    if any(labels):
        axes.legend(axes.get_lines(), labels, fontsize=8)


def _line(
    axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], color: str, label: str = ""
) -> None:
    width = 1.8 if len(y) <= MAX_POINTS_WITH_THICK_LINES else 1.2
    marker = "o" if np.isfinite(y).sum() <= MAX_POINTS_WITH_MARKERS else ""
    axes.plot(x, y, color=color, marker=marker, markersize=4, label=label or None, linewidth=width)


def _label_steps(axes: Axes) -> None:
    axes.set_xlabel("environment steps")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
