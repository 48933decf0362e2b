"""What a report is made from: metrics, settings and final evaluation of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from rlightning.engine.run_folder import RunFolder
from rlightning.engine.stored_evaluation import StoredEvaluation, read_evaluation
from rlightning.errors import RunFolderError
from rlightning.metrics.iteration_report import Row
from rlightning.metrics.json_lines import read_metrics
from rlightning.metrics.task_shares import id_order

RETURN_MEAN = "episode_return_mean"
_CORE_NAMES = {
    "iteration",
    "env_steps",
    "seconds",
    "steps_per_second",
    "num_episodes",
    "policy_version",
    "home_share",
}
_FAMILIES = (
    "evaluation",
    "time",
    "router",
    "load",
    "queue_wait_seconds",
    "tasks",
    "faults",
    "node_requests",
    "node_bytes",
)


@dataclass(frozen=True)
class RunData:
    """One run, read.

    Attributes:
        name: Of the run's folder.
        config_text: Resolved settings, YAML.
        rows: One for each iteration, in order; of an iteration that was repeated, the last.
        num_unreadable: Lines of the metrics file that could not be read.
        evaluation: Of the final weights; None if the run has none.
    """

    name: str
    config_text: str
    rows: tuple[Row, ...]
    num_unreadable: int
    evaluation: StoredEvaluation | None = None

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one metric over all iterations, NaN where it is missing. Shape: (iterations,)."""
        values = [row.get(name) for row in self.rows]
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def has(self, name: str) -> bool:
        """Return whether a metric has any value."""
        return any(row.get(name) is not None for row in self.rows)

    def names(self) -> list[str]:
        """Return every key, in order of its first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def family(self, prefix: str) -> list[str]:
        """Return what follows ``prefix/`` in the keys, numbered ids in order of the number."""
        start = f"{prefix}/"
        return [name.removeprefix(start) for name in self.names() if name.startswith(start)]

    def environments(self) -> list[str]:
        """Return the prefixes of several environments' returns, or ``[""]`` for a single one."""
        end = f"/{RETURN_MEAN}"
        return [n.removesuffix(end) for n in self.names() if n.endswith(end)] or [""]

    def algorithm_names(self) -> list[str]:
        """Return the keys of losses and the like, those of several environments with prefix."""
        return [name for name in self.names() if _is_of_algorithm(name) and self.has(name)]

    def task_counts(self) -> tuple[list[str], list[str], NDArray[np.int64]]:
        """Return worker ids, replica ids, and requests over the whole run. Shape: (W, R)."""
        pairs = [(pair, *pair.rpartition("/")[::2]) for pair in self.family("tasks")]
        workers = sorted({worker for _, worker, _ in pairs}, key=id_order)
        replicas = sorted({replica for _, _, replica in pairs}, key=id_order)
        counts = np.zeros((len(workers), len(replicas)), dtype=np.int64)
        for pair, worker, replica in pairs:
            total = np.nansum(self.column(f"tasks/{pair}"))
            counts[workers.index(worker), replicas.index(replica)] = int(total)
        return workers, replicas, counts

    def setting(self, path: str) -> Any:
        """Return a setting such as ``engine.total_env_steps``, or None if there is none."""
        value: Any = _read_yaml(self.config_text)
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def read_run(folder: RunFolder) -> RunData:
    """Read a run that is complete, interrupted or still running.

    Raises:
        RunFolderError: If its files cannot be read, or it has no metrics yet.
    """
    try:
        metrics = read_metrics(folder.metrics_path)
    except OSError as error:
        raise RunFolderError(
            f"expected metrics, cannot read {folder.metrics_path}: {error}; set the permissions"
        ) from error
    by_iteration = {int(row["iteration"] or 0): row for row in metrics.rows}
    if not by_iteration:
        raise RunFolderError(
            f"expected at least one iteration in {folder.metrics_path}, got none; "
            "wait for the first iteration of the run"
        )
    rows = tuple(by_iteration[iteration] for iteration in sorted(by_iteration))
    return RunData(
        folder.path.resolve().name,
        folder.read_config(),
        rows,
        metrics.num_unreadable,
        read_evaluation(folder.evaluation_path),
    )


def _is_of_algorithm(name: str) -> bool:
    last = name.rpartition("/")[2]
    if name.partition("/")[0] in _FAMILIES and "/" in name:
        return False
    return last not in _CORE_NAMES and not last.startswith(("episode_return_", "episode_length_"))


def _read_yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
