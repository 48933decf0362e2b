"""The returns that a screen shows: one, or one for each of several environments."""

from __future__ import annotations

from rlightning.metrics.iteration_report import Row
from rlightning.metrics.readable_numbers import readable_value

_MEAN = "episode_return_mean"


def environments_in(row: Row) -> list[str]:
    """Return the names of the environments that have returns of their own, or ``[""]``."""
    end = f"/{_MEAN}"
    return [name.removesuffix(end) for name in row if name.endswith(end)] or [""]


def return_mean(row: Row, environment: str) -> float | None:
    """Return the mean return of one environment; ``""`` is all together."""
    return row.get(f"{environment}/{_MEAN}" if environment else _MEAN)


def readable_return(row: Row, environment: str) -> str:
    """Return ``mean ± standard deviation`` of one environment, aligned for lines."""
    start = f"{environment}/" if environment else ""
    mean, spread = row.get(start + _MEAN), row.get(f"{start}episode_return_std")
    named = f"{environment} " if environment else ""
    return f"{named}{readable_value(mean):>8} ± {readable_value(spread):<6}"
