"""Metrics of a run as Ray metrics, which the Prometheus of a Ray dashboard picks up."""

from __future__ import annotations

from collections.abc import Mapping

from ray.util.metrics import Counter, Gauge

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.sink import Sink

RAY_COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "rlightning_node_requests": (
        "Requests of environment workers to replicas, by node.",
        ("run", "from_node", "to_node"),
    ),
    "rlightning_node_bytes": (
        "Bytes of those requests and of their answers, by node.",
        ("run", "from_node", "to_node"),
    ),
    "rlightning_replica_requests": (
        "Requests sent to a replica.",
        ("run", "replica"),
    ),
}
"""Name, meaning and tags of each counter."""

RAY_GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "rlightning_env_steps": ("Valid environment steps so far.", ("run",)),
    "rlightning_steps_per_second": ("Environment steps per second.", ("run",)),
    "rlightning_policy_version": ("Published versions of the weights.", ("run",)),
    "rlightning_episode_return_mean": ("Mean return of the last 100 episodes.", ("run",)),
    "rlightning_home_share": ("Share of requests that stayed on their node.", ("run",)),
    "rlightning_load": ("Calls in flight at a replica.", ("run", "replica")),
    "rlightning_faults": (
        "Restarts, dropped steps and retried calls of a worker, so far.",
        ("run", "what", "worker"),
    ),
}
"""Name, meaning and tags of each gauge."""


class RayMetricsSink(Sink):
    """Counts and shows what happens between workers under the names `rlightning_…`.

    The process must be connected to Ray when the first iteration is recorded.

    Args:
        run_name: Tag `run` of everything.
    """

    name = "Ray metrics"

    def __init__(self, run_name: str) -> None:
        self._run = {"run": run_name}
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}

    def record(self, report: IterationReport, row: Row) -> None:
        """Add one iteration to the counters and set the gauges."""
        if not self._gauges:
            self._create()
        for (asking, asked), own in report.traffic.items():
            nodes = {"from_node": asking, "to_node": asked}
            self._count("rlightning_node_requests", own.requests, nodes)
            self._count("rlightning_node_bytes", own.num_bytes, nodes)
        for (_, replica_id), count in report.tasks.items():
            self._count("rlightning_replica_requests", count, {"replica": replica_id})
        for name in ("env_steps", "steps_per_second", "policy_version", "episode_return_mean"):
            self._show(f"rlightning_{name}", row.get(name), {})
        self._show("rlightning_home_share", report.home_share, {})
        for replica_id, load in report.loads.items():
            self._show("rlightning_load", load, {"replica": replica_id})
        for name, count in report.faults.items():
            what, _, worker_id = name.partition("/")
            self._show("rlightning_faults", count, {"what": what, "worker": worker_id})

    def _create(self) -> None:
        for name, (meaning, tags) in RAY_COUNTERS.items():
            self._counters[name] = Counter(name, meaning, tags)
        for name, (meaning, tags) in RAY_GAUGES.items():
            self._gauges[name] = Gauge(name, meaning, tags)

    def _count(self, name: str, number: int, tags: Mapping[str, str]) -> None:
        if number > 0:
            self._counters[name].inc(number, {**self._run, **tags})

    def _show(self, name: str, value: float | None, tags: Mapping[str, str]) -> None:
        if value is not None:
            self._gauges[name].set(value, {**self._run, **tags})
