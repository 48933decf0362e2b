"""What goes along with a call and comes back with its answer, as few bytes.

Ray carries bytes without pickling them, which halves what a small call costs.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Sequence

from rlightning.runtime.ray.failure import Failure

_SECONDS = struct.Struct("<d")


def header(method: str, call_numbers: Sequence[int]) -> bytes:
    """Return the name of a method and the numbers of the calls that it answers."""
    return f"{method} {' '.join(map(str, call_numbers))}".encode()


def read_header(data: bytes) -> tuple[str, list[int]]:
    """Return what `header` was given."""
    method, *numbers = data.decode().split(" ")
    return method, [int(number) for number in numbers]


def status(seconds: float, failures: Sequence[Failure | None]) -> bytes:
    """Return how long a run took, and the failure of each of its calls, if there is one."""
    written = _SECONDS.pack(seconds)
    return written + pickle.dumps(tuple(failures)) if any(failures) else written


def read_status(data: bytes) -> tuple[float, Sequence[Failure | None] | None]:
    """Return the seconds and the failures, None if all calls were answered."""
    (seconds,) = _SECONDS.unpack_from(data)
    rest = data[_SECONDS.size :]
    return seconds, pickle.loads(rest) if rest else None
