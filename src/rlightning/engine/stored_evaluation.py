"""`evaluation.json`: how good the final weights of a run are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rlightning.engine.atomic_file import write_atomically
from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.progress import TrainingProgress
from rlightning.errors import RunFolderError


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """An evaluation and what was evaluated.

    Attributes:
        episodes: How many were played.
        mean: Mean of the undiscounted returns.
        std: Their standard deviation.
        min: The lowest.
        max: The highest.
        lengths: Steps of each episode.
        seed: Of the episodes.
        deterministic: Whether the most likely action was taken.
        iteration: Iterations of training behind the weights.
        env_steps: Environment steps of training behind the weights.
        seconds: Time of training behind the weights.
    """

    episodes: int
    mean: float
    std: float
    min: float
    max: float
    lengths: tuple[int, ...]
    seed: int
    deterministic: bool
    iteration: int
    env_steps: int
    seconds: float

    @classmethod
    def of(
        cls, result: EvaluationResult, progress: TrainingProgress, *, seed: int, deterministic: bool
    ) -> StoredEvaluation:
        """Return what is to be stored of a result."""
        return cls(
            episodes=result.num_episodes,
            mean=result.mean_return,
            std=result.std_return,
            min=result.min_return,
            max=result.max_return,
            lengths=result.lengths,
            seed=seed,
            deterministic=deterministic,
            iteration=progress.iteration,
            env_steps=progress.env_steps,
            seconds=progress.seconds,
        )

    def write(self, path: Path) -> None:
        """Store it in one step.

        Raises:
            RunFolderError: If it cannot be written; then what was there is as before.
        """
        try:
            write_atomically(path, (json.dumps(asdict(self)) + "\n").encode())
        except OSError as error:
            raise RunFolderError(
                f"expected to write the evaluation, but cannot write {path}: {error}; "
                "make room or set the permissions, then repeat it with 'rlightning resume'"
            ) from error


def read_evaluation(path: Path) -> StoredEvaluation | None:
    """Return what was stored, or None if the run has no final evaluation yet.

    Raises:
        RunFolderError: If the file cannot be read or holds something else.
    """
    try:
        content = json.loads(path.read_bytes())
        return StoredEvaluation(**{**content, "lengths": tuple(content["lengths"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunFolderError(
            f"expected the final evaluation of a run, cannot read {path}: {error!r}; "
            "remove the file, and make it anew with 'rlightning resume'"
        ) from error
