"""`metrics.jsonl`: one JSON object an iteration, written at once and read back forgivingly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.sink import Sink


class JsonLines(Sink):
    """Appends a line for each iteration; the line is with the operating system on return."""

    def __init__(self, path: Path) -> None:
        self.name = f"JSON lines {path}"
        self._path = path
        self._file: TextIO | None = None

    def start(self) -> None:
        """Open the file for appending."""
        self._file = self._path.open("a", encoding="utf-8")

    def record(self, report: IterationReport, row: Row) -> None:
        """Append one line.

        Raises:
            OSError: If it cannot be written, for example because the disk is full.
        """
        if self._file is None:
            raise OSError(f"{self._path} is not open: expected start() before record()")
        self._file.write(json_line(row))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def json_line(row: Row) -> str:
    """Return the row as one line of JSON, newline included."""
    return json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n"


@dataclass(frozen=True, slots=True)
class MetricsFile:
    """What a metrics file holds.

    Attributes:
        rows: The readable lines, in the order of the file.
        num_unreadable: Lines that are no JSON object with an iteration, such as one that a kill
            cut in half.
    """

    rows: tuple[Row, ...]
    num_unreadable: int


def read_metrics(path: Path) -> MetricsFile:
    """Read a metrics file; one that does not exist has no rows.

    Raises:
        OSError: If the file exists and cannot be read.
    """
    if not path.exists():
        return MetricsFile((), 0)
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    parsed = [_parse(line) for line in lines]
    rows = tuple(row for row in parsed if row is not None)
    return MetricsFile(rows, len(lines) - len(rows))


def _parse(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("iteration"), int):
        return None
    return row
