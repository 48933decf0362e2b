"""Runs with one kind of fault, one after the other, and what was found."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlightning.engine.ray_extra import needs_ray
from rlightning.testing.faults.differences import differences
from rlightning.testing.faults.kind import FaultKind, RemovesNodes
from rlightning.testing.faults.kinds import FAULT_KINDS
from rlightning.testing.faults.leftovers import Leftovers
from rlightning.testing.faults.trial import FULL, SHORT, Trial

if TYPE_CHECKING:
    from benchmarks.raylets import Raylets

LEAST_RETURN = 475.0
"""Mean over 100 episodes at which CartPole-v1 counts as solved: undisturbed runs reach it."""


@dataclass(frozen=True)
class FaultRun:
    """What became of one run.

    Attributes:
        seed: Of the run and of the moment.
        moment: When the fault came.
        victims: Whom it befell.
        wrong: A sentence for each thing that is not as it must be.
        told: What the run tells of faults.
        seconds: How long it took.
        episode_return: Mean over the final evaluation, if there was one.
    """

    seed: int
    moment: str
    victims: list[str]
    wrong: list[str]
    told: dict[str, int]
    seconds: float
    episode_return: float | None = None


@dataclass
class FaultSeries:
    """All runs with one kind of fault.

    Attributes:
        kind: Its name.
        what: What is done.
        is_full: Whether the runs were of full length.
        runs: In order.
        left_behind: What was there after all runs that was not before.
        seconds: Everything together.
    """

    kind: str
    what: str
    is_full: bool
    runs: list[FaultRun] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def num_sound(self) -> int:
        """Runs in which everything was as it must be; none if something stayed behind."""
        return 0 if self.left_behind else sum(not run.wrong for run in self.runs)

    def add(self, run: FaultRun) -> None:
        """Add a run, and say at once if something is wrong with it."""
        self.runs.append(run)
        for sentence in run.wrong:
            victims = ", ".join(run.victims) or "nobody"
            print(
                f"  {self.kind}, seed {run.seed} ({victims}, {run.moment}): {sentence}", flush=True
            )

    def told(self, what: str) -> int:
        """Return a count of faults over all runs and workers."""
        return sum(
            count
            for run in self.runs
            for name, count in run.told.items()
            if name.startswith(f"faults/{what}/")
        )

    def __str__(self) -> str:
        counts = ", ".join(
            f"{self.told(what)} {what.replace('_', ' ')}"
            for what in ("restarts", "dropped_steps", "retried_calls")
        )
        left = "".join(f"; left behind: {thing}" for thing in self.left_behind)
        return (
            f"{self.kind}{' (full)' if self.is_full else ''}: {self.num_sound} of "
            f"{len(self.runs)} runs sound; {counts}; {self.seconds:.0f} s{left}"
        )


def run_short(name: str, num_runs: int, first_seed: int = 0) -> FaultSeries:
    """Run short trainings with a kind of fault, all on one cluster that is started for them."""
    with needs_ray():
        from benchmarks.raylets import Raylets

    kind, before = FAULT_KINDS[name], Leftovers.now()
    with Raylets(kind.num_nodes, limits_memory=kind.limits_memory) as raylets:
        series = run_short_on(raylets, name, num_runs, first_seed)
    series.left_behind += before.added_since()
    return series


def run_short_on(raylets: Raylets, name: str, num_runs: int, first_seed: int = 0) -> FaultSeries:
    """Run short trainings with a kind of fault on a cluster, which is whole again after each."""
    series = FaultSeries(name, FAULT_KINDS[name].what, is_full=False)
    started_at = time.monotonic()
    settings = (*SHORT, f"cluster.address={raylets.address}")
    for seed in range(first_seed, first_seed + num_runs):
        series.add(run_once(FAULT_KINDS[name], seed, settings, raylets))
        raylets.refill()
        if not raylets.is_idle():
            series.left_behind.append(f"CPUs that are not free again after run {seed}")
    series.seconds = time.monotonic() - started_at
    return series


def run_full(name: str, num_runs: int, first_seed: int = 0) -> FaultSeries:
    """Run whole trainings with a kind of fault, each on a Ray of its own."""
    with needs_ray():
        from benchmarks.raylets import Raylets

    kind = _of_full_length(FAULT_KINDS[name])
    series, before = FaultSeries(name, kind.what, is_full=True), Leftovers.now()
    started_at = time.monotonic()
    for seed in range(first_seed, first_seed + num_runs):
        if kind.num_nodes == 1:
            series.add(run_once(kind, seed, FULL))
            continue
        with Raylets(kind.num_nodes, limits_memory=kind.limits_memory) as raylets:
            settings = (*FULL, f"cluster.address={raylets.address}")
            series.add(run_once(kind, seed, settings, raylets))
    series.left_behind += before.added_since()
    series.seconds = time.monotonic() - started_at
    return series


def _of_full_length(kind: FaultKind) -> FaultKind:
    """Return a kind without what lets a policy learn less in as many steps.

    That is hundreds of zeros in each observation, and more environment workers than the preset's.
    """
    own = kind.settings
    return replace(
        kind, num_padding_values=0, settings=lambda chance: (*own(chance), "env.num_workers=2")
    )


def run_once(
    kind: FaultKind, seed: int, settings: Sequence[str], cluster: RemovesNodes | None = None
) -> FaultRun:
    """Run one training with a fault and compare what it tells with what was seen."""
    started_at = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        seen = Trial(kind, seed, Path(folder), settings, cluster).run()
    if seen.result is not None and seen.result.was_interrupted:
        raise KeyboardInterrupt  # the run has taken it for itself
    wrong = differences(seen)
    evaluation = None if seen.result is None else seen.result.evaluation
    episode_return = None if evaluation is None else evaluation.mean_return
    if episode_return is not None and episode_return < LEAST_RETURN:
        wrong.append(f"the return is {episode_return:.1f}, less than {LEAST_RETURN:g}")
    last_row = seen.rows[-1] if seen.rows else {}
    told = {name: int(n) for name, n in last_row.items() if name.startswith("faults/")}
    seconds = time.monotonic() - started_at
    return FaultRun(seed, str(seen.moment), seen.victims, wrong, told, seconds, episode_return)
