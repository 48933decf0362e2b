"""What to say where Ray is needed and not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlightning.errors import MissingExtraError


@contextmanager
def needs_ray() -> Iterator[None]:
    """Guard the import of what needs Ray.

    Raises:
        MissingExtraError: If Ray is not installed; names the extra that brings it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "ray":
            raise
        raise MissingExtraError(
            "expected Ray to be installed for cluster.backend=ray, got none; install the extra: "
            "pip install 'rlightning[ray]'"
        ) from error
