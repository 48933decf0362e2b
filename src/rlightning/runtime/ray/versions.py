"""What must be the same at the driver and at every worker."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from rlightning._version import __version__

Versions: TypeAlias = Mapping[str, str]


def versions_here() -> dict[str, str]:
    """Return the versions of this process, by name; torch is not imported for it."""
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "none"
    return {"rlightning": __version__, "Python": platform.python_version(), "torch": torch}


def mismatch(here: Versions, there: Versions) -> str | None:
    """Return which versions differ, both named, or None if none does."""
    differing = [
        f"{name} {here[name]} at the driver and {there.get(name, 'none')} at the worker"
        for name in here
        if here[name] != there.get(name)
    ]
    return ", ".join(differing) or None
