"""Numbers as people read them."""

from __future__ import annotations


def readable_count(count: float) -> str:
    """Return a whole number with thin groups: ``1234567`` → ``1 234 567``."""
    return f"{round(count):,}".replace(",", " ")


def readable_value(value: float | None) -> str:
    """Return a measured number with about four digits, or a dash for none."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 100_000 or 0 < size < 0.001:
        return f"{value:.2e}"
    if size >= 1000:
        return readable_count(value)
    return f"{value:.1f}" if size >= 10 else f"{value:.3f}"


def readable_duration(seconds: float | None) -> str:
    """Return ``H:MM:SS``, with days in front if there are any, or dashes for an unknown time."""
    if seconds is None:
        return "-:--:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{days} d {clock}" if days else clock
