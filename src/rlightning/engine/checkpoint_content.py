"""What may be in a checkpoint, and reading one without trusting it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from rlightning.errors import CheckpointError

_PLAIN_TYPES = (bool, int, float, str, type(None))


def check_payload(value: object, where: str = "payload") -> None:
    """Refuse anything but tensors and plain values, which load without executing code.

    Raises:
        CheckpointError: Naming the first value of another type.
    """
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if type(key) not in (str, int):
                raise _not_plain(f"a key of {where}", key)
            check_payload(entry, f"{where}[{key!r}]")
    elif isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        for position, entry in enumerate(value):
            check_payload(entry, f"{where}[{position}]")
    elif not isinstance(value, torch.Tensor) and type(value) not in _PLAIN_TYPES:
        raise _not_plain(where, value)


def read_checked(path: Path) -> dict[str, Any]:
    """Read a file of `torch.save` if every part of it has the checksum that was stored.

    Raises:
        CheckpointError: If the file cannot be read, or is cut short or changed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"expected a checkpoint, cannot read {path}: {error}") from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            damaged_part = archive.testzip()
        if damaged_part is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {damaged_part}")
        content = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except Exception as error:
        raise CheckpointError(f"expected a whole checkpoint, {path} is damaged: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("payload"), dict):
        raise CheckpointError(f"expected a checkpoint of rlightning, {path} holds something else")
    return content


def _not_plain(where: str, value: object) -> CheckpointError:
    return CheckpointError(
        f"expected tensors and plain values in a checkpoint, got {type(value).__name__} at "
        f"{where}; turn it into a tensor, number, text, list or dict first"
    )
