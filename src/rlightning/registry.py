"""Names for things that users may add: environments, networks, algorithms, wrappers."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from typing import Generic, TypeVar

from rlightning.errors import ConfigError

Entry = TypeVar("Entry")


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelled most like `name`, or None if none is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest known name, or an empty string."""
    nearest = nearest_name(name, known)
    return f" (did you mean {nearest!r}?)" if nearest else ""


def import_object(path: str) -> object:
    """Import ``"package.module:Name"``.

    Raises:
        ConfigError: If the path has another form, the module cannot be imported, or it has no
            such name.
    """
    module_name, separator, attribute = path.partition(":")
    if not separator or not module_name or not attribute:
        raise ConfigError(
            f"expected an import path 'package.module:Name', got {path!r}; "
            "put a colon between the module and the name"
        )
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ConfigError(
            f"expected module {module_name!r} of {path!r} to be importable, got: {error}; "
            "install it or put its folder on PYTHONPATH"
        ) from error
    except Exception as error:
        raise ConfigError(
            f"expected module {module_name!r} of {path!r} to be imported, "
            f"got {type(error).__name__}: {error}; correct the module"
        ) from error
    if not hasattr(module, attribute):
        hint = did_you_mean(attribute, vars(module))
        raise ConfigError(
            f"expected a name of module {module_name!r}, got {attribute!r}, which it does not "
            f"have{hint}; correct {path!r}"
        )
    found: object = getattr(module, attribute)
    return found


class Registry(Generic[Entry]):
    """Names of one kind of thing; an unknown name may be an import path ``module:Name``.

    Entries may be given as ``"package.module:Name"`` and are imported when first asked for.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, Entry | str] = {}

    def register(self, name: str, entry: Entry | str) -> None:
        """Add a name; the same name twice is refused.

        Raises:
            ConfigError: If the name is taken.
        """
        if name in self._entries:
            raise ConfigError(f"{self._kind} {name!r} is registered already; choose another name")
        self._entries[name] = entry

    def names(self) -> list[str]:
        """Return the registered names in alphabetical order."""
        return sorted(self._entries)

    def get(self, name: str) -> Entry:
        """Return the entry of a name or of an import path.

        Raises:
            ConfigError: If the name is unknown; the message lists the known ones.
        """
        entry = self._entries.get(name, name if ":" in name else None)
        if entry is None:
            hint = did_you_mean(name, self._entries)
            known = ", ".join(self.names())
            raise ConfigError(
                f"unknown {self._kind} {name!r}{hint}; expected one of {known}, "
                "or an import path 'package.module:Name'"
            )
        if isinstance(entry, str):
            return import_object(entry)  # type: ignore[return-value]
        return entry
