"""What one iteration of training tells: the single record from which every output is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from rlightning.metrics.episode_summary import summarize_episodes
from rlightning.metrics.node_traffic import NodePair, NodeTraffic, home_share, num_nodes
from rlightning.types import EpisodeRecord

Cell: TypeAlias = int | float | None
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class IterationReport:
    """One collect-and-update cycle in numbers. Names, units and meanings: `metrics.names`.

    Attributes:
        iteration: Number of the iteration, from 1.
        env_steps: Valid environment steps since the start of the run.
        seconds: Since the start of the run; a resumed run goes on counting.
        steps_per_second: Environment steps per second of this iteration.
        episodes: Episodes that ended in this iteration.
        algorithm: Losses, kl, entropy and so on. With several kinds of environment every name
            is preceded by ``kind/``.
        time_shares: Seconds of this iteration by phase: environments, inference, update,
            publishing, waiting.
        router_counts: Decisions of the router by reason, since the start.
        loads: Calls in flight now, by replica id.
        tasks: Requests of this iteration, by (environment worker id, replica id).
        queue_wait_seconds: Seconds that calls of this iteration waited for room, by worker id.
        policy_version: Version of the weights after this iteration.
        evaluation: Results of an evaluation, if one ran in this iteration.
        environments: Name of the environment by worker id; only needed where there are several,
            for then each one gets its own returns, as ``name/episode_return_mean``.
        faults: What was lost and mended since the start of this process, by
            ``<what>/<worker id>``; empty as long as no worker failed.
        traffic: Requests and bytes of this iteration between nodes, by (node of the environment
            worker, node of the replica).
    """

    iteration: int
    env_steps: int
    seconds: float
    steps_per_second: float
    episodes: tuple[EpisodeRecord, ...]
    algorithm: Mapping[str, float]
    time_shares: Mapping[str, float]
    router_counts: Mapping[str, int]
    loads: Mapping[str, int]
    tasks: Mapping[tuple[str, str], int]
    queue_wait_seconds: Mapping[str, float]
    policy_version: int
    evaluation: Mapping[str, float] | None = None
    environments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    faults: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    traffic: Mapping[NodePair, NodeTraffic] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def home_share(self) -> float | None:
        """Share of this iteration's requests that stayed on their node; None on a single node."""
        return home_share(self.traffic) if num_nodes(self.traffic) > 1 else None

    def as_row(self, episode_summary: Mapping[str, Cell] | None = None) -> Row:
        """Return all numbers under flat names, safe for JSON: what is not finite becomes None.

        Args:
            episode_summary: Returns and lengths over a window of episodes, as `Recorder` keeps
                it. Without it, those of this iteration's episodes alone.
        """
        if episode_summary is None:
            episode_summary = summarize_episodes(self.episodes)
        row: Row = {
            "iteration": self.iteration,
            "env_steps": self.env_steps,
            "seconds": self.seconds,
            "steps_per_second": self.steps_per_second,
            **episode_summary,
            "num_episodes": len(self.episodes),
            "policy_version": self.policy_version,
            **self.algorithm,
            **self._families(),
        }
        return {name: json_safe(value) for name, value in row.items()}

    def _families(self) -> Row:
        evaluation = self.evaluation or {}
        waits = self.queue_wait_seconds
        return {
            **{f"evaluation/{name}": value for name, value in evaluation.items()},
            **{f"time/{phase}_seconds": value for phase, value in self.time_shares.items()},
            **{f"router/{reason}": count for reason, count in self.router_counts.items()},
            **{f"load/{replica_id}": load for replica_id, load in self.loads.items()},
            **{f"queue_wait_seconds/{worker_id}": value for worker_id, value in waits.items()},
            **{f"faults/{what}": count for what, count in self.faults.items()},
            **{f"tasks/{env}/{replica}": count for (env, replica), count in self.tasks.items()},
            **self._between_nodes(),
        }

    def _between_nodes(self) -> Row:
        row: Row = {} if self.home_share is None else {"home_share": self.home_share}
        for (asking, asked), own in self.traffic.items():
            row[f"node_requests/{asking}/{asked}"] = own.requests
            row[f"node_bytes/{asking}/{asked}"] = own.num_bytes
        return row


def json_safe(value: Cell) -> Cell:
    """Return a plain Python number, or None for NaN and infinities, which JSON does not know."""
    if value is None or isinstance(value, int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
