"""What the live panel shows: five lines that answer how far, how well, how fast, where, by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.node_traffic import num_nodes
from rlightning.metrics.readable_numbers import readable_count, readable_duration, readable_value
from rlightning.metrics.share_bar import ShareBar
from rlightning.metrics.shown_returns import environments_in, readable_return
from rlightning.metrics.task_shares import tasks_by_replica
from rlightning.metrics.trail import sparkline

SPARKLINE_WIDTH = 30


@dataclass(frozen=True, slots=True)
class PanelContent:
    """Everything one drawing of the panel needs.

    Attributes:
        report: Newest iteration.
        row: The same, flat.
        returns: Course of the mean return, oldest first, by environment; a single one is ``""``.
        total_env_steps: Steps at which the run is complete.
        share_done: From 0 to 1.
        seconds_left: None if it is not known yet.
    """

    report: IterationReport
    row: Row
    returns: Mapping[str, tuple[float, ...]]
    total_env_steps: int
    share_done: float
    seconds_left: float | None


def draw_panel(content: PanelContent) -> Table:
    """Return the lines of the panel, each with its name in front."""
    report = content.report
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    table.add_row("progress", _progress_bar(content.share_done))
    table.add_row("", _progress(content))
    for environment in environments_in(content.row):
        table.add_row("return", _returns(content, environment))
    table.add_row("speed", _speed(report))
    table.add_row("time", ShareBar(report.time_shares))
    table.add_row("replicas", ShareBar(tasks_by_replica(report.tasks)))
    if report.home_share is not None:
        table.add_row("nodes", traffic_line(report))
    if report.faults:
        table.add_row("faults", fault_line(report.faults))
    if report.evaluation:
        table.add_row("evaluation", _evaluation(report.evaluation))
    return table


def _progress_bar(share_done: float) -> ProgressBar:
    return ProgressBar(
        total=1.0,
        completed=share_done,
        style="bright_black",
        complete_style="cyan",
        finished_style="green",
    )


def _progress(content: PanelContent) -> Text:
    report = content.report
    steps = f"{readable_count(report.env_steps)} of {readable_count(content.total_env_steps)} steps"
    return Text("   ").join(
        [
            Text(f"{content.share_done:.0%}", style="bold"),
            Text(steps),
            Text(f"{readable_duration(report.seconds)} so far", style="dim"),
            Text(f"{readable_duration(content.seconds_left)} left", style="bold"),
        ]
    )


def _returns(content: PanelContent, environment: str) -> Text:
    course = content.returns.get(environment)
    if not course:
        return Text("no episode has ended yet", style="dim")
    line = Text(overflow="ellipsis", no_wrap=True)
    line.append(sparkline(course, SPARKLINE_WIDTH).ljust(SPARKLINE_WIDTH), style="green")
    line.append(f"  {' '.join(readable_return(content.row, environment).split())}", style="bold")
    if not environment:
        length = readable_count(content.row.get("episode_length_mean") or 0)
        line.append(f"   {length} steps long", style="dim")
    return line


def _speed(report: IterationReport) -> Text:
    line = Text(f"{readable_count(report.steps_per_second)} steps/s", style="bold")
    line.append(f"   iteration {report.iteration}", style="not bold")
    line.append(f"   policy version {report.policy_version}", style="not bold dim")
    return line


def traffic_line(report: IterationReport) -> Text:
    """Return which share of the requests stayed on their node, and how many left it."""
    crossed = [own for (asking, asked), own in report.traffic.items() if asking != asked]
    line = Text(f"{report.home_share or 0.0:.2%} of the requests stayed at home", style="bold")
    line.append(f"   {num_nodes(report.traffic)} nodes", style="not bold")
    requests, num_bytes = sum(c.requests for c in crossed), sum(c.num_bytes for c in crossed)
    crossing = f"   {readable_count(requests)} crossed with {readable_count(num_bytes)} bytes"
    line.append(crossing, style="not bold dim")
    return line


def fault_line(faults: Mapping[str, int]) -> Text:
    """Return what was lost and mended, such as ``2 restarts (env-1, eval-0)``."""
    workers: dict[str, list[str]] = {}
    totals: Counter[str] = Counter()
    for name, count in faults.items():
        what, _, worker_id = name.partition("/")
        totals[what] += count
        workers.setdefault(what, []).append(worker_id)
    parts = (
        f"{readable_count(count)} {what.replace('_', ' ')} ({', '.join(workers[what])})"
        for what, count in totals.items()
    )
    return Text("   ".join(parts), style="yellow")


def _evaluation(results: Mapping[str, float]) -> Text:
    return Text("   ".join(f"{name} {readable_value(value)}" for name, value in results.items()))
