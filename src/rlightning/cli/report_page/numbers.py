"""The numbers of a report as tables of text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlightning.cli.report_page.run_data import RETURN_MEAN, RunData
from rlightning.metrics.names import describe_metric
from rlightning.metrics.readable_numbers import readable_count, readable_duration, readable_value

MAX_COURSE_ROWS = 12


@dataclass(frozen=True, slots=True)
class Table:
    """Text in rows and columns.

    Attributes:
        title: Above it.
        columns: Names of the columns.
        rows: As many cells each as there are columns.
        num_text_columns: How many of the last columns hold words, not numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    num_text_columns: int = 0


def facts(run: RunData) -> list[tuple[str, str]]:
    """Return what to know first, as pairs of name and value."""
    steps, seconds = run.column("env_steps")[-1], run.column("seconds")[-1]
    total = run.setting("engine.total_env_steps")
    done = f"{readable_count(steps)}"
    if isinstance(total, int) and total > steps:
        done += f" ({steps / total:.0%})"
    return [
        ("environment steps", done),
        ("iterations", readable_count(run.column("iteration")[-1])),
        ("time", readable_duration(seconds)),
        ("steps per second", readable_count(steps / max(seconds, 1e-9))),
        *_return_facts(run),
        *_evaluation_facts(run),
    ]


def course_table(run: RunData) -> Table:
    """Return some iterations, evenly spread from the first to the last."""
    last = len(run.rows) - 1
    count = min(MAX_COURSE_ROWS, len(run.rows))
    chosen = sorted({round(position) for position in np.linspace(0, last, count)})
    names = [
        "iteration",
        "env_steps",
        "seconds",
        "steps_per_second",
        *_course_metrics(run),
    ]
    rows = tuple(tuple(_cell(name, run.rows[i].get(name)) for name in names) for i in chosen)
    titles = tuple(name.replace("episode_", "").replace("_", " ") for name in names)
    return Table("Course", titles, rows)


def _course_metrics(run: RunData) -> list[str]:
    """Return the metrics of the course; of several environments, those of each one."""
    if run.environments() != [""]:
        ends = (f"/{RETURN_MEAN}", "/episode_return_std")
        return [name for name in run.names() if name.endswith(ends)]
    return [name for name in _COURSE_METRICS if run.has(name)]


_COURSE_METRICS = (
    RETURN_MEAN,
    "episode_return_std",
    "episode_length_mean",
    "kl",
    "entropy",
    "explained_variance",
)


def metric_table(run: RunData) -> Table:
    """Return first, last, lowest and highest value of each metric, with its meaning."""
    names = [name for name in run.names() if run.has(name) and not _is_counted_elsewhere(name)]
    columns = ("metric", "first", "last", "lowest", "highest", "unit", "meaning")
    return Table("All numbers", columns, tuple(_metric_row(run, n) for n in names), 2)


def router_table(run: RunData) -> Table:
    """Return the decisions of the router by reason."""
    counts = {reason: run.column(f"router/{reason}") for reason in run.family("router")}
    last = {r: values[np.isfinite(values)][-1] for r, values in counts.items() if values.any()}
    total = sum(last.values()) or 1.0
    rows = tuple((r, readable_count(n), f"{n / total:.1%}") for r, n in last.items())
    return Table("Decisions of the router", ("reason", "decisions", "share"), rows)


def node_table(run: RunData) -> Table:
    """Return who asked whom across nodes, over the whole run; no rows for a single node."""
    requests = {name: _total(run, f"node_requests/{name}") for name in run.family("node_requests")}
    pairs = {name: name.split("/") for name in requests}
    total = sum(requests.values()) or 1.0
    is_single = len({node_id for pair in pairs.values() for node_id in pair}) < 2
    rows = tuple(
        (
            readable_count(count),
            f"{count / total:.2%}",
            readable_count(_total(run, f"node_bytes/{name}")),
            "stayed" if pairs[name][0] == pairs[name][1] else "crossed",
            *pairs[name],
        )
        for name, count in requests.items()
    )
    columns = ("requests", "share", "bytes", "", "node of environments", "node of replicas")
    return Table("Requests between nodes", columns, () if is_single else rows, 3)


def _total(run: RunData, name: str) -> float:
    return float(np.nansum(run.column(name)))


def fault_table(run: RunData) -> Table:
    """Return what was lost and mended, by worker; it has no rows if nothing failed."""
    rows = []
    for name in run.family("faults"):
        what, _, worker_id = name.partition("/")
        total = _sum_over_restarts(run.column(f"faults/{name}"))
        rows.append((readable_count(total), what.replace("_", " "), worker_id))
    return Table("Faults", ("count", "what", "worker"), tuple(rows), 2)


def _sum_over_restarts(counts: NDArray[np.float64]) -> float:
    """Return the total of a count that begins anew, or is absent, where a run was resumed."""
    known = np.nan_to_num(counts)
    steps = np.diff(known, prepend=0.0)
    return float(np.where(steps < 0, known, steps).sum())


def _return_facts(run: RunData) -> list[tuple[str, str]]:
    entries = []
    for environment in run.environments():
        prefix = f"{environment}/" if environment else ""
        means = run.column(prefix + RETURN_MEAN)
        if not np.isfinite(means).any():
            return [("return", "no episode has ended")]
        spread = run.column(f"{prefix}episode_return_std")
        last = np.flatnonzero(np.isfinite(means))[-1]
        value = f"{readable_value(means[last])} ± {readable_value(spread[last])}"
        entries.append((f"last return {environment}".strip(), value))
        entries.append((f"best return {environment}".strip(), readable_value(np.nanmax(means))))
    return entries


def _evaluation_facts(run: RunData) -> list[tuple[str, str]]:
    evaluation = run.evaluation
    if evaluation is None:
        return []
    spread = f"{readable_value(evaluation.mean)} ± {readable_value(evaluation.std)}"
    return [("final evaluation", f"{spread} over {readable_count(evaluation.episodes)} episodes")]


def _metric_row(run: RunData, name: str) -> tuple[str, ...]:
    values = run.column(name)
    finite = values[np.isfinite(values)]
    numbers = (finite[0], finite[-1], finite.min(), finite.max())
    metric = describe_metric(name)
    return (name, *(_cell(name, number) for number in numbers), metric.unit, metric.meaning)


def _cell(name: str, value: float | None) -> str:
    if name == "seconds" and value is not None:
        return readable_duration(value)
    is_count = value is not None and float(value).is_integer()
    return readable_count(value) if is_count and value is not None else readable_value(value)


def _is_counted_elsewhere(name: str) -> bool:
    return name.startswith(("tasks/", "router/", "faults/", "node_"))
