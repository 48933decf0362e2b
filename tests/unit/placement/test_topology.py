from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlightning.errors import RoutingTypeError, RoutingValueError
from rlightning.placement.topology import Topology

read = Topology.from_component_distribution


def test_nodes_are_known_by_component_and_worker() -> None:
    topology = read(
        {
            "n0": {"train": {"count": 1, "ids": [0]}, "buffer": {"ids": (0,)}},
            "n1": {"eval": {"count": 1, "ids": [1]}, "env": {"ids": range(2)}},
            "n2": {"eval": {"ids": np.array([0])}},
        }
    )
    assert topology.node_ids == ("n0", "n1", "n2")
    assert topology.eval_nodes == {1: "n1", 0: "n2"}
    assert topology.env_nodes == {0: "n1", 1: "n1"}
    assert topology.nodes_by_component["train"] == {0: "n0"}


def test_later_changes_by_the_caller_change_nothing() -> None:
    ids = [0]
    distribution: dict[str, Any] = {"n0": {"env": {"ids": ids}}}
    topology = read(distribution)
    ids.append(1)
    distribution["n1"] = {}
    assert topology.env_nodes == {0: "n0"}
    assert topology.node_ids == ("n0",)


def test_an_empty_cluster_and_empty_nodes_are_allowed() -> None:
    assert read({}).node_ids == ()
    assert read({"n0": {}, "n1": {"env": {"count": 0, "ids": []}}}).env_nodes == {}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"ids": [-1]}, "got -1 at position 0"),
        ({"ids": [0, 1.0]}, "got 1.0 at position 1"),
        ({"ids": ["0"]}, "got '0'"),
        ({"ids": [True]}, "got True"),
        ({"ids": [0, [1]]}, r"got \[1\] at position 1"),
        ({"ids": [0, 0]}, "got 0 a second time at position 1"),
        ({"ids": [0], "count": 2}, "to be 1, the number of ids, got 2"),
        ({"ids": [0], "count": True}, "got True"),
        ({"ids": [0], "count": None}, "got None"),
        ({"count": 1}, "got None"),
        ({"ids": "01"}, "got '01'"),
        ({"ids": np.zeros((1, 1), dtype=int)}, "list of ids"),
    ],
)
def test_a_contradiction_is_refused_with_its_place(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(RoutingValueError, match=says):
        read({"n0": {"env": entry}})


def test_the_same_id_on_two_nodes_is_refused_naming_the_first() -> None:
    with pytest.raises(RoutingValueError, match="first on node 'a'"):
        read({"a": {"eval": {"ids": [3]}}, "b": {"eval": {"ids": [3]}}})


def test_an_unknown_component_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RoutingValueError, match="did you mean 'eval'"):
        read({"a": {"evals": {"ids": [0]}}})


@pytest.mark.parametrize("distribution", [None, [], "a", {"a": None}, {"a": {"env": [0]}}, {1: {}}])
def test_another_structure_is_refused(distribution: Any) -> None:
    with pytest.raises(RoutingTypeError, match="expected"):
        read(distribution)


def test_an_eval_id_without_a_policy_is_refused() -> None:
    topology = read({"a": {"eval": {"ids": [0, 2]}}})
    topology.check_eval_ids(3)
    with pytest.raises(RoutingValueError, match="below 2, the number of policies, got 2"):
        topology.check_eval_ids(2)
