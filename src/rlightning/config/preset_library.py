"""The configurations that come with the package."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from rlightning.errors import ConfigError
from rlightning.registry import did_you_mean

_SUFFIX = ".yaml"


def preset_names() -> list[str]:
    """Return the names of all presets in alphabetical order."""
    return sorted(
        file.name.removesuffix(_SUFFIX)
        for file in _folder().iterdir()
        if file.name.endswith(_SUFFIX)
    )


def preset_text(name: str) -> str:
    """Return the YAML text of a preset.

    Raises:
        ConfigError: If there is no preset of that name.
    """
    if name not in preset_names():
        raise ConfigError(
            f"expected a preset or a YAML file, got {name!r}{did_you_mean(name, preset_names())}; "
            f"presets are {', '.join(preset_names())}, and a file ends in .yaml or .yml"
        )
    return (_folder() / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def preset_summary(name: str) -> str:
    """Return one line about a preset: the comment that it begins with.

    Raises:
        ConfigError: If there is no preset of that name.
    """
    return preset_text(name).partition("\n")[0].removeprefix("#").strip()


def _folder() -> Traversable:
    return resources.files("rlightning.config") / "presets"
