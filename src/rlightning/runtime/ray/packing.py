"""Small observations and answers as plain bytes.

Ray carries bytes without pickling them, and its own pickling of a small record takes longer than
all the rest that happens to it here. Large ones are left to Ray, which shares their arrays
between the processes of a node without a copy.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any

from rlightning.types import ActionBatch, ObservationBatch

PACKED_TYPES = (ObservationBatch, ActionBatch)
"""Nothing in these is of a class that a worker could not import."""

MAX_PACKED_BYTES = 2**16

MAGIC = bytes.fromhex("b5e1a7c34f0d4e6a9c8276d05b3f91ee")
"""What packed bytes begin with, and no others do."""

ALIGNMENT = 16
"""Of every array within the bytes, so that it can be computed with in place."""


def packed(value: Any) -> Any:
    """Return the bytes of a small record; anything else as it is."""
    if type(value) not in PACKED_TYPES:
        return value
    buffers: list[pickle.PickleBuffer] = []
    record = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts: list[bytes | memoryview] = [record, *(buffer.raw() for buffer in buffers)]
    sizes = [len(part) for part in parts]
    if sum(sizes) > MAX_PACKED_BYTES:
        return value
    head = struct.pack(f"<{len(sizes) + 1}I", len(sizes), *sizes)
    padded: list[bytes | memoryview] = [MAGIC, head, bytes(-len(head) % ALIGNMENT)]
    for part in parts:
        padded += [part, bytes(-len(part) % ALIGNMENT)]
    return b"".join(padded)


def unpacked(value: Any) -> Any:
    """Return what was packed; its arrays are read-only. Anything else is returned as it is."""
    if type(value) is not bytes or not value.startswith(MAGIC):
        return value
    start = len(MAGIC)
    (num_parts,) = struct.unpack_from("<I", value, start)
    sizes = struct.unpack_from(f"<{num_parts}I", value, start + 4)
    start = _aligned(start + 4 + 4 * num_parts)
    view = memoryview(value)
    parts: list[memoryview] = []
    for size in sizes:
        parts.append(view[start : start + size])
        start = _aligned(start + size)
    return pickle.loads(parts[0], buffers=parts[1:])


def _aligned(offset: int) -> int:
    return offset + -offset % ALIGNMENT
