"""Plausible reports, for trying out a sink of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rlightning.metrics.iteration_report import IterationReport
from rlightning.types import EpisodeRecord


def create_iteration_report(iteration: int = 1, **changes: Any) -> IterationReport:
    """Return the report of an iteration of 1000 steps and one second, with two episodes.

    Args:
        iteration: From 1; steps, seconds and returns grow with it.
        **changes: Attributes of the report that shall be otherwise.
    """
    report = IterationReport(
        iteration=iteration,
        env_steps=1000 * iteration,
        seconds=float(iteration),
        steps_per_second=1000.0,
        episodes=(
            EpisodeRecord("env-0/0", 10.0 * iteration, 10, terminated=True),
            EpisodeRecord("env-1/0", 10.0 * iteration + 4.0, 20, terminated=False),
        ),
        algorithm={"policy_loss": -0.01, "value_loss": 2.5, "kl": 0.004, "entropy": 0.6},
        time_shares={"environments": 0.5, "inference": 0.25, "update": 0.2, "waiting": 0.05},
        router_counts={"least-loaded": 8 * iteration},
        loads={"eval-0": 1, "eval-1": 0},
        tasks={("env-0", "eval-0"): 5, ("env-1", "eval-1"): 3},
        queue_wait_seconds={"eval-0": 0.01, "eval-1": 0.0},
        policy_version=iteration,
    )
    return replace(report, **changes)
