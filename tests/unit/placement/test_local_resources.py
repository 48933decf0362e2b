from __future__ import annotations

from rlightning.placement.local_resources import LOCAL_NODE_ID, LocalResourceManager
from rlightning.placement.topology import Topology


def test_everything_lives_on_the_one_node() -> None:
    distribution = LocalResourceManager([0, 1, 4], 2).get_component_distribution()
    assert distribution == {
        LOCAL_NODE_ID: {
            "env": {"count": 3, "ids": [0, 1, 4]},
            "eval": {"count": 2, "ids": [0, 1]},
            "train": {"count": 1, "ids": [0]},
        }
    }


def test_what_is_not_there_is_not_named_and_routers_can_read_it() -> None:
    distribution = LocalResourceManager([], 1, "n7").get_component_distribution()
    assert list(distribution["n7"]) == ["eval", "train"]
    assert Topology.from_component_distribution(distribution).eval_nodes == {0: "n7"}
