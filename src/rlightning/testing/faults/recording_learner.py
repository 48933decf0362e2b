"""A learner that writes down what it was trained on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rlightning.algorithm.base import Algorithm
from rlightning.algorithm.learner import Learner
from rlightning.testing.faults.stamped_environment import stamps
from rlightning.types import Fragment, UpdateReport


@dataclass(frozen=True, slots=True)
class TrainedFragment:
    """One fragment that the learner had.

    Attributes:
        env_id: Who collected it, as it says itself.
        num_rows: Steps, one of all sub-environments counted once.
        num_valid: Environment steps.
        policy_versions: Which acted, ascending.
        simulators: For each sub-environment the number of each row's simulator, none twice.
        step_numbers: For each sub-environment those of its valid rows.
    """

    env_id: str
    num_rows: int
    num_valid: int
    policy_versions: list[int]
    simulators: list[list[int]]
    step_numbers: list[list[int]]

    @classmethod
    def of(cls, fragment: Fragment, *, has_stamps: bool) -> TrainedFragment:
        """Return the record of a fragment."""
        marks = stamps(fragment.observation) if has_stamps else np.empty((0, 0, 2), np.int64)
        columns = range(fragment.num_envs if has_stamps else 0)
        return cls(
            fragment.env_id,
            fragment.num_steps,
            fragment.num_valid,
            sorted({int(version) for version in fragment.policy_version}),
            [np.unique(marks[:, column, 0]).tolist() for column in columns],
            [marks[fragment.valid[:, column], column, 1].tolist() for column in columns],
        )


class RecordingLearner(Learner):
    """Appends a line for each update that it has finished.

    Args:
        path: Of the file.
        has_stamps: Whether the observations carry stamps.
        factories: As for the learner.
    """

    def __init__(
        self, path: Path, has_stamps: bool, factories: Mapping[str, Callable[[], Algorithm]]
    ) -> None:
        super().__init__(factories)
        self._path, self._has_stamps = path, has_stamps

    def update(self, progress: float, kinds: Sequence[str], *fragments: Fragment) -> UpdateReport:
        """Update, then write down with what."""
        report = super().update(progress, kinds, *fragments)
        records = [TrainedFragment.of(part, has_stamps=self._has_stamps) for part in fragments]
        with self._path.open("a") as file:
            file.write(json.dumps([asdict(record) for record in records]) + "\n")
        return report


def read_trained(path: Path) -> Iterator[TrainedFragment]:
    """Yield all fragments of all updates, in order."""
    if not path.is_file():
        return
    for line in path.read_text().splitlines():
        for record in json.loads(line):
            yield TrainedFragment(**record)
