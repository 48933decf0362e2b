"""Whether a run that was killed goes on as it should."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.atomic_file import PARTIAL_SUFFIX
from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.training import resume
from rlightning.metrics.iteration_report import Row
from rlightning.metrics.json_lines import read_metrics
from rlightning.testing.restored_state import restored_state_faults
from rlightning.testing.run_killer import COMMAND
from rlightning.testing.state_differences import state_differences

NUM_MORE_ITERATIONS = 4
RESUME_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class KilledRun:
    """What a killed run was when it wrote its newest checkpoint.

    Attributes:
        config: Of the run, with an end some iterations after the checkpoint.
        checkpoint: The newest one.
        rows: Metrics up to it.
    """

    config: RunConfig
    checkpoint: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def iteration(self) -> int:
        """Iteration of the checkpoint."""
        return int(self.checkpoint["progress"]["iteration"])

    @property
    def env_steps(self) -> int:
        """Environment steps at the checkpoint."""
        return int(self.checkpoint["progress"]["env_steps"])

    @property
    def overrides(self) -> list[str]:
        """What the run is resumed with."""
        engine = self.config.engine
        return [
            f"engine.total_env_steps={engine.total_env_steps}",
            f"engine.final_evaluation_episodes={engine.final_evaluation_episodes}",
        ]


def resume_faults(folder: Path, scratch: Path) -> list[str]:
    """Resume two copies of a killed run, and return what is wrong; nothing if all is well.

    One copy goes on through the command, as the kill left it. The other goes on in this process,
    with a half-written checkpoint and half a line of metrics added. Both must end with the same
    weights, bit for bit.

    Args:
        folder: Of the killed run; it is not changed.
        scratch: Empty folder for the copies.
    """
    killed = read_killed_run(folder)
    copies = [Path(shutil.copytree(folder, scratch / name)) for name in ("command", "function")]
    command, function = copies
    answer = subprocess.run(  # noqa: S603  starts this very program
        [*COMMAND, "resume", str(command), *killed.overrides],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=RESUME_TIMEOUT_SECONDS,
    )
    if answer.returncode:
        return [f"resume ended with code {answer.returncode}: {answer.stderr}"]
    plant_leftovers(function, killed.iteration)
    resume(function, killed.overrides)
    end, other_end = (
        _learned(CheckpointStore(copy / "checkpoints").load_latest()) for copy in copies
    )
    return [
        *restored_state_faults(killed.config, killed.checkpoint),
        *(f"resumed twice, differs: {place}" for place in state_differences(end, other_end)),
        *(f"{copy.name}: {fault}" for copy in copies for fault in folder_faults(copy, killed)),
    ]


def read_killed_run(folder: Path) -> KilledRun:
    """Read what a killed run goes on from.

    Raises:
        CheckpointError: If it has no checkpoint or a damaged one.
    """
    run = RunFolder(folder)
    checkpoint = CheckpointStore(run.checkpoints_path).load_latest()
    iteration, env_steps, _ = checkpoint["progress"].values()
    config = load_config(run.config_path)
    num_envs = sum(env.num_workers * env.num_envs for env in config.env_configs)
    more_steps = NUM_MORE_ITERATIONS * num_envs * config.engine.rollout_length
    end = {
        "engine.total_env_steps": env_steps + more_steps,
        "engine.final_evaluation_episodes": 2,
    }
    rows = [
        row
        for row in read_metrics(run.metrics_path).rows
        if int(row["iteration"] or 0) <= iteration
    ]
    return KilledRun(load_config(run.config_path, end), checkpoint, tuple(rows))


def plant_leftovers(folder: Path, iteration: int) -> None:
    """Leave what a kill in the middle of writing leaves: half a checkpoint, half a line."""
    checkpoints = folder / "checkpoints"
    whole = CheckpointStore(checkpoints).entries()[-1].path.read_bytes()
    partial = checkpoints / f".iteration-{iteration + 1:08d}.pt{PARTIAL_SUFFIX}"
    partial.write_bytes(whole[: len(whole) // 2])
    (folder / f".metrics.jsonl{PARTIAL_SUFFIX}").write_text('{"iteration":1')
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(f'{{"iteration":{iteration + 1},"env_st')


def folder_faults(folder: Path, killed: KilledRun) -> list[str]:
    """Return what is wrong in the folder of a run that was killed, resumed and completed."""
    metrics = read_metrics(folder / "metrics.jsonl")
    checks = {
        "lines of metrics cannot be read": metrics.num_unreadable == 0,
        "something half written is left": not any(folder.rglob(f".*{PARTIAL_SUFFIX}")),
        "there is no final evaluation": (folder / "evaluation.json").is_file(),
    }
    faults = [text for text, is_well in checks.items() if not is_well]
    return faults + row_faults(metrics.rows, killed)


def row_faults(rows: Sequence[Row], killed: KilledRun) -> list[str]:
    """Return what is wrong in the metrics of a run that was killed, resumed and completed."""
    kept, added = rows[: killed.iteration], rows[killed.iteration :]
    if len(added) < NUM_MORE_ITERATIONS:
        return [f"expected {NUM_MORE_ITERATIONS} iterations more, got {len(added)}"]
    iterations = [row["iteration"] for row in rows]
    config, progress = killed.config, killed.checkpoint["progress"]
    share = killed.env_steps / config.engine.total_env_steps
    planned = float(config.algorithm.learning_rate) * (1.0 - share)  # type: ignore[attr-defined]
    checks = {
        "iterations are not each there once, in order": iterations == list(range(1, len(rows) + 1)),
        "rows up to the checkpoint have changed": tuple(kept) == killed.rows,
        "the checkpoint's counters are not those of its row": all(
            kept[-1][name] == progress[name] for name in ("iteration", "env_steps", "seconds")
        ),
        "env_steps do not grow": _grows(rows, "env_steps"),
        "policy_version does not grow": _grows(rows, "policy_version"),
        "seconds fall": _values(rows, "seconds") == sorted(_values(rows, "seconds")),
        f"the learning rate is {added[0]['learning_rate']}, the schedule says {planned}": (
            math.isclose(float(added[0]["learning_rate"] or 0.0), planned, rel_tol=1e-12)
        ),
    }
    return [text for text, is_well in checks.items() if not is_well]


def _grows(rows: Sequence[Row], name: str) -> bool:
    return all(before < after for before, after in pairwise(_values(rows, name)))


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [float(row[name] or 0.0) for row in rows]


def _learned(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Leave out the seconds, which no two runs share."""
    progress = {**checkpoint["progress"], "seconds": 0.0}
    return {**checkpoint, "progress": progress}
