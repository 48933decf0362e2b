"""Plans that are carried out on three raylets of one machine, and what Ray is told of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

pytest.importorskip("ray")

from rlightning.config.cluster_config import ClusterConfig
from rlightning.engine.cluster_nodes import find_nodes
from rlightning.metrics.node_traffic import NodeTraffic
from rlightning.placement.request import PlacementRequest, Pool
from rlightning.runtime.ray import metrics_sink
from rlightning.runtime.ray.metrics_sink import RAY_COUNTERS, RAY_GAUGES, RayMetricsSink
from rlightning.runtime.ray.nodes import cluster_nodes
from rlightning.testing.iteration_reports import create_iteration_report

REQUEST = PlacementRequest((Pool((0,), (0,)),))


class Recorded:
    """Stands for a Ray metric."""

    made: ClassVar[dict[str, Recorded]] = {}

    def __init__(self, name: str, description: str, tag_keys: tuple[str, ...]) -> None:
        self.values: dict[tuple[str, ...], float] = {}
        self._tag_keys = tag_keys
        self.made[name] = self

    def inc(self, value: float, tags: dict[str, str]) -> None:
        key = self._key(tags)
        self.values[key] = self.values.get(key, 0) + value

    def set(self, value: float, tags: dict[str, str]) -> None:
        self.values[self._key(tags)] = value

    def _key(self, tags: dict[str, str]) -> tuple[str, ...]:
        assert set(tags) == set(self._tag_keys)
        return tuple(tags[key] for key in self._tag_keys if key != "run")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Recorded]]:
    monkeypatch.setattr(metrics_sink, "Counter", Recorded)
    monkeypatch.setattr(metrics_sink, "Gauge", Recorded)
    Recorded.made.clear()
    yield Recorded.made
    Recorded.made.clear()


def test_what_crosses_nodes_is_counted_on_and_what_is_so_now_is_shown(recorded) -> None:
    sink = RayMetricsSink("boat")
    traffic = {("a", "a"): NodeTraffic(3, 30), ("a", "b"): NodeTraffic(0, 0)}
    for iteration in (1, 2):
        report = create_iteration_report(
            iteration, traffic=traffic, faults={"restarts/env-1": iteration}
        )
        sink.record(report, report.as_row())
    assert set(recorded) == {*RAY_COUNTERS, *RAY_GAUGES}
    values = {name: metric.values for name, metric in recorded.items()}
    assert values["rlightning_node_requests"] == {("a", "a"): 6}
    assert values["rlightning_node_bytes"] == {("a", "a"): 60}
    assert values["rlightning_replica_requests"] == {("eval-0",): 10, ("eval-1",): 6}
    assert values["rlightning_faults"] == {("restarts", "env-1"): 2}
    assert values["rlightning_env_steps"] == {(): 2000}
    assert values["rlightning_home_share"] == {(): 1.0}
    assert values["rlightning_load"] == {("eval-0",): 1, ("eval-1",): 0}


def test_ray_takes_all_metrics(local_ray: str) -> None:
    sink = RayMetricsSink("boat")
    report = create_iteration_report(traffic={("a", "b"): NodeTraffic(3, 30)})
    sink.record(report, report.as_row())
    sink.close()


def test_the_nodes_of_the_ray_in_use_are_those_to_plan_for(local_ray: str) -> None:
    (node,) = find_nodes(ClusterConfig(backend="ray"), REQUEST).nodes
    assert node == cluster_nodes()[0]
    assert node.node_id == local_ray
    assert node.cpus >= 2
    assert node.memory_bytes is not None
    assert node.labels["ray.io/node-id"] == local_ray


def test_the_documented_names_are_those_of_the_metrics() -> None:
    text = (Path(__file__).parents[2] / "docs" / "routing.md").read_text(encoding="utf-8")
    table = text.partition("<!-- ray metrics: begin -->")[2].partition("<!-- ray metrics: end")[0]
    assert table.strip().splitlines()[2:] == [
        *(_row(name, "counter", *entry) for name, entry in RAY_COUNTERS.items()),
        *(_row(name, "gauge", *entry) for name, entry in RAY_GAUGES.items()),
    ]


def _row(name: str, kind: str, meaning: str, tags: tuple[str, ...]) -> str:
    own = ", ".join(f"`{tag}`" for tag in tags if tag != "run")
    return f"| `{name}` | {kind} | {own} | {meaning} |"
