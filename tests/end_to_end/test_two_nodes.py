"""A training whose workers believe to live on two nodes, with threads for machines."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from rlightning.engine.cluster_nodes import FINDERS, FoundNodes
from rlightning.errors import PlacementError, RoutingValueError
from rlightning.metrics.node_traffic import NodePair, NodeTraffic
from rlightning.placement.node import Node
from rlightning.placement.planner import plan_placement
from rlightning.placement.request import PlacementRequest
from rlightning.placement.resource_manager import GlobalResourceManager
from rlightning.testing.supervised_training import SupervisedTraining

NUM_WORKERS, NUM_ENVS, ROLLOUT_LENGTH, NUM_ITERATIONS = 4, 2, 8, 3
REQUESTS = NUM_WORKERS * ROLLOUT_LENGTH
"""Of one iteration."""
# CartPole: 4 float32 and one of noise are asked, an int64 and two float32 are answered.
BYTES = NUM_ENVS * ((4 + 1) * 4 + 8 + 2 * 4)
SETTINGS = [
    f"engine.total_env_steps={NUM_WORKERS * NUM_ENVS * ROLLOUT_LENGTH * NUM_ITERATIONS}",
    f"engine.rollout_length={ROLLOUT_LENGTH}",
    "algorithm.minibatch_size=32",
    "algorithm.num_epochs=1",
    f"env.num_workers={NUM_WORKERS}",
    f"env.num_envs={NUM_ENVS}",
    "policy.num_eval_policies=2",
    "cluster.mode=threads",
    "cluster.restart_backoff_seconds=0.01",
]


class TwoNodes:
    """Nodes with room for all; a test may take one away or put another there."""

    def __init__(self) -> None:
        self.alive = [Node.of("a", 5), Node.of("b", 5)]

    def create_manager(
        self, cluster: object, request: PlacementRequest, *, is_guest: bool = False
    ) -> GlobalResourceManager:
        return GlobalResourceManager(plan_placement(self.alive, request))

    def find(self, cluster: object, request: PlacementRequest) -> FoundNodes:
        return FoundNodes(tuple(self.alive))


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> TwoNodes:
    nodes = TwoNodes()
    monkeypatch.setattr("rlightning.engine.assembly.create_manager", nodes.create_manager)
    monkeypatch.setitem(FINDERS, "in_process", nodes.find)
    return nodes


def training(*settings: str) -> SupervisedTraining:
    return SupervisedTraining("cartpole-ppo", [*SETTINGS, *settings])


def total(run: SupervisedTraining) -> dict[NodePair, NodeTraffic]:
    counts: dict[NodePair, NodeTraffic] = {}
    for report in run.reports:
        for pair, own in report.traffic.items():
            counts[pair] = counts.get(pair, NodeTraffic(0, 0)).plus(own)
    return counts


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_with_node_affinity_every_request_stays_at_home(nodes: TwoNodes, mode: str) -> None:
    with training("routing.type=node_affinity", f"routing.mode={mode}") as run:
        run.run()
        homes = Counter(run.assembly.manager.node_of(f"env-{i}") for i in range(NUM_WORKERS))
        spawned = {handle.worker_id: handle.node_id for handle in run.assembly.policies.handles()}
        tasks = sum((Counter(report.tasks) for report in run.reports), Counter())
    assert homes == {"a": 2, "b": 2}
    assert set(spawned.values()) == {"a", "b"}
    num_requests = REQUESTS * len(run.reports)
    half = NodeTraffic(num_requests // 2, num_requests // 2 * BYTES)
    assert total(run) == {("a", "a"): half, ("b", "b"): half}
    assert {report.home_share for report in run.reports} == {1.0}
    assert run.reports[-1].router_counts["local"] == num_requests == sum(tasks.values())
    row = run.reports[0].as_row()
    assert row["node_requests/a/a"] == REQUESTS // 2
    assert row["node_bytes/b/b"] == REQUESTS // 2 * BYTES


def test_counters_agree_with_who_answered_whom_where_requests_cross(nodes: TwoNodes) -> None:
    with training("routing.type=simple") as run:
        run.run()
        node_of = run.assembly.manager.node_of
    expected: Counter[tuple[str | None, str | None]] = Counter()
    for report in run.reports:
        for (env_id, replica_id), count in report.tasks.items():
            expected[node_of(env_id), node_of(replica_id)] += count
    assert {pair: own.requests for pair, own in total(run).items()} == expected
    assert all(own.num_bytes == own.requests * BYTES for own in total(run).values())
    assert sum(expected.values()) == REQUESTS * len(run.reports)
    assert any(asking != asked for asking, asked in expected)


def test_workers_of_a_lost_node_come_back_elsewhere_and_requests_stay_at_home_there(
    nodes: TwoNodes,
) -> None:
    """Node b goes with a replica and two environment workers; c takes all three."""
    with training("routing.type=node_affinity", "engine.total_env_steps=640") as run:
        manager = run.assembly.manager
        victims = [
            worker
            for worker in ("eval-0", "eval-1", *(f"env-{i}" for i in range(NUM_WORKERS)))
            if manager.node_of(worker) == "b"
        ]

        def lose_node() -> None:
            nodes.alive = [nodes.alive[0], Node.of("c", 4)]
            for victim in victims:
                run.handle(victim).kill()

        run.after_calls(100, lose_node)
        run.run()
        assert [manager.node_of(worker) for worker in victims] == ["c"] * 3
        assert [run.handle(worker).node_id for worker in victims] == ["c"] * 3
        assert run.supervisor.restarts() == dict.fromkeys(victims, 1)
        distribution = manager.get_component_distribution()
        assert "b" not in distribution
    last = run.reports[-1]
    assert set(last.traffic) == {("a", "a"), ("c", "c")}
    assert last.home_share == 1.0


def test_a_worker_for_which_no_node_is_left_has_that_as_its_reason(nodes: TwoNodes) -> None:
    with training("cluster.max_restarts=0") as run:
        nodes.alive = [Node.of("c", 0)]
        with pytest.raises(PlacementError, match="no node for worker env 3"):
            run.assembly.manager.choose_node("env-3", nodes.alive)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_replica_joins_with_the_newest_weights_and_leaves_while_training_runs(
    nodes: TwoNodes, mode: str
) -> None:
    nodes.alive = [Node.of("a", 7), Node.of("b", 7)]
    settings = ["routing.type=node_affinity", f"routing.mode={mode}", "routing.tie_break=rotating"]
    changes: list[str] = []
    versions: list[tuple[str, int, int]] = []
    with training(*settings, "engine.total_env_steps=2560") as run:
        scaling, policies = run.assembly.scaling.replicas, run.assembly.policies
        (kind,) = policies.pools
        joined, is_time = threading.Event(), threading.Event()

        def scale() -> None:
            is_time.wait(30.0)
            changes.append(scaling.add(kind))
            joined.set()

        def iteration_ended(report):
            run.reports.append(report)
            if report.iteration == 2:
                is_time.set()
                assert joined.wait(30.0)
                newest = run.handle("eval-2").call("policy_version").result(30.0)
                versions.append(("eval-2", newest, policies.policy_version))
            if report.iteration == 10:
                scaling.remove("eval-0", drain_seconds=30.0)
            return report

        run.iteration_ended = iteration_ended
        helper = threading.Thread(target=scale)
        helper.start()
        run.run()
        helper.join(30.0)
        home = run.assembly.manager.node_of("eval-2")
        assert run.handle("eval-2").node_id == home
        assert list(policies.loads()) == ["eval-1", "eval-2"]
        assert set(policies.loads().values()) == {0}
        assert "eval-0" not in scaling.replica_specs
        with pytest.raises(RoutingValueError, match="expected the kind of a pool"):
            scaling.add("no such")
    assert changes == ["eval-2"]
    assert [newest == present for _, newest, present in versions] == [True]
    answered = [{replica for _, replica in report.tasks} for report in run.reports]
    assert all("eval-2" not in own for own in answered[:2])
    assert all("eval-2" in own for own in answered[2:])
    assert all("eval-0" not in own for own in answered[10:])
    assert all(
        set(fragment.policy_version) == {i // NUM_WORKERS}
        for i, fragment in enumerate(run.fragments)
    )
