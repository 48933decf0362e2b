"""What the shell offers when Tab is pressed. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rlightning.config.preset_library import preset_names, preset_summary
from rlightning.config.reference import setting_paths
from rlightning.engine.run_folder import LATEST


def complete_source(incomplete: str) -> Iterator[tuple[str, str]]:
    """Offer presets, and YAML files of this folder."""
    for name in preset_names():
        if name.startswith(incomplete):
            yield name, preset_summary(name)
    for path in sorted(Path().glob("*.y*ml")):
        if path.name.startswith(incomplete):
            yield path.name, "file"


def complete_setting(incomplete: str) -> list[str]:
    """Offer the paths of all settings, each with ``=`` behind it."""
    return [f"{path}=" for path in setting_paths() if path.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Offer the runs in the folder ``runs``, and ``latest``."""
    folder = Path("runs")
    names = sorted(path.parent.name for path in folder.glob("*/config.yaml"))
    return [name for name in [LATEST, *names] if name.startswith(incomplete)]
