"""The folder of one run: its settings, metrics, events, checkpoints and report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rlightning.engine.atomic_file import write_atomically
from rlightning.errors import RunFolderError
from rlightning.metrics.json_lines import json_line, read_metrics
from rlightning.registry import did_you_mean

LATEST = "latest"
_NAME_OF_RUN = re.compile(r"(?P<name>.+)-(?P<time>\d{8}-\d{6})(?:-(?P<number>\d+))?")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where one run lies. Made by `create` for a new run, by `open` for one that exists.

    Attributes:
        path: The folder.
    """

    path: Path

    @classmethod
    def create(cls, root: Path | str, name: str, now: datetime) -> RunFolder:
        """Make ``root/<name>-<YYYYmmdd-HHMMSS>``; if that is taken, with ``-2``, ``-3``… behind.

        Two processes that start in the same second get two folders. Characters of `name` that
        do not suit a file name become ``_``.

        Raises:
            RunFolderError: If the folder cannot be made or written.
        """
        safe_name = _NOT_ALLOWED.sub("_", name).strip(".") or "run"
        stem = f"{safe_name}-{now:%Y%m%d-%H%M%S}"
        number = 1
        while True:
            path = Path(root) / (stem if number == 1 else f"{stem}-{number}")
            try:
                path.mkdir(parents=True)
                (path / "checkpoints").mkdir()
            except FileExistsError:
                if not path.is_dir():
                    raise _unwritable(path, "a file of that name is in the way") from None
                number += 1
            except OSError as error:
                raise _unwritable(path, error) from error
            else:
                return cls(path)

    @classmethod
    def open(cls, reference: Path | str, root: Path | str = "runs") -> RunFolder:
        """Find a run.

        Args:
            reference: A path; the name of a folder in `root`; a run's name without its time,
                which means its newest run; or ``latest``, the newest run of all. Newest by the
                time in the folder's name, not by the time of the last change.
            root: Folder of all runs.

        Raises:
            RunFolderError: If there is no such run; the message has the nearest name.
        """
        for path in (Path(reference), Path(root) / reference):
            if (path / "config.yaml").is_file():
                return cls(path)
        runs = _runs(Path(root))
        wanted = str(reference)
        matches = [run for run in runs if wanted in (LATEST, run.name)]
        if matches:
            return cls(max(matches).path)
        raise _not_found(wanted, Path(root), runs)

    @property
    def config_path(self) -> Path:
        """The resolved settings, YAML."""
        return self.path / "config.yaml"

    @property
    def metrics_path(self) -> Path:
        """One JSON object an iteration."""
        return self.path / "metrics.jsonl"

    @property
    def evaluation_path(self) -> Path:
        """The evaluation of the final weights, JSON."""
        return self.path / "evaluation.json"

    @property
    def checkpoints_path(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / "checkpoints"

    @property
    def tensorboard_path(self) -> Path:
        """Folder of TensorBoard's event files."""
        return self.path / "tensorboard"

    @property
    def report_path(self) -> Path:
        """Folder of the report: one page and its pictures."""
        return self.path / "report"

    def write_config(self, text: str) -> None:
        """Store the resolved settings.

        Raises:
            RunFolderError: If they cannot be written.
        """
        try:
            write_atomically(self.config_path, text.encode())
        except OSError as error:
            raise _unwritable(self.config_path, error) from error

    def read_config(self) -> str:
        """Return the stored settings as text.

        Raises:
            RunFolderError: If they cannot be read.
        """
        try:
            return self.config_path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RunFolderError(
                f"cannot read {self.config_path}: {error}; expected the settings of a run, "
                "restore the file or start a new run"
            ) from error

    def cut_metrics_after(self, iteration: int) -> int:
        """Drop metrics of later iterations, and lines that a crash left unreadable.

        Returns:
            How many lines were dropped.

        Raises:
            RunFolderError: If the file cannot be read or written; then it is as before.
        """
        try:
            metrics = read_metrics(self.metrics_path)
            kept = [row for row in metrics.rows if int(row["iteration"] or 0) <= iteration]
            if self.metrics_path.exists():
                write_atomically(self.metrics_path, "".join(map(json_line, kept)).encode())
        except OSError as error:
            raise _unwritable(self.metrics_path, error) from error
        return len(metrics.rows) - len(kept) + metrics.num_unreadable


@dataclass(frozen=True, slots=True, order=True)
class _Run:
    """A run as its folder's name tells it; the newer one is the greater one."""

    time: str
    number: int
    name: str
    path: Path


def _runs(root: Path) -> list[_Run]:
    """Return the runs of a folder, oldest first."""
    if not root.is_dir():
        return []
    matches = [(_NAME_OF_RUN.fullmatch(path.name), path) for path in root.iterdir()]
    return sorted(
        _Run(match["time"], int(match["number"] or 1), match["name"], path)
        for match, path in matches
        if match and (path / "config.yaml").is_file()
    )


def _unwritable(path: Path, cause: OSError | str) -> RunFolderError:
    reason = (cause.strerror or cause) if isinstance(cause, OSError) else cause
    return RunFolderError(
        f"expected to write the run folder, but cannot write {path}: {reason}; "
        "choose another place with 'logging.folder=PATH', or make room and set the permissions"
    )


def _not_found(wanted: str, root: Path, runs: list[_Run]) -> RunFolderError:
    if Path(wanted).is_dir() or (root / wanted).is_dir():
        detail = f"the folder {wanted!r} has no config.yaml, so it is no run"
    elif not runs:
        detail = f"there is no run in {str(root)!r}"
    else:
        folders = [run.path.name for run in runs]
        hint = did_you_mean(wanted, [*folders, *(run.name for run in runs)])
        newest = folders[-1]
        detail = f"there is no run {wanted!r} in {str(root)!r}{hint}; the newest is {newest!r}"
    return RunFolderError(
        f"expected a run folder, its name, or 'latest': {detail}; "
        "give the path of a run, or start one with 'rlightning train'"
    )
