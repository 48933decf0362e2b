from __future__ import annotations

from typing import Any

import pytest

from rlightning.policy.utils.router import SyncNodeAffinityRouter

CLUSTER: dict[str, Any] = {
    "n1": {"eval": {"ids": [0, 1]}, "env": {"ids": [0, 1]}},
    "n2": {"eval": {"ids": [2]}, "env": {"ids": [2]}},
    "n3": {"env": {"ids": [3]}},
}


def selected(router: SyncNodeAffinityRouter, *env_ids: str | None) -> str:
    return "".join(router.select_policy(env_id) for env_id in env_ids)


def test_each_node_goes_round_by_itself() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert selected(router, "env-0", "env-2", "env-1", "env-2/7", "env-0") == "acbca"
    assert router.decision_counts["local"] == 5


def test_fallbacks_go_round_over_all_with_a_cursor_of_their_own() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c", "d"], CLUSTER)
    assert selected(router, None, "env-0", "what", "env-3", "env-9", None) == "aabcda"
    assert router.decision_counts == {
        "local": 1,
        "spilled": 0,
        "unknown_env": 2,
        "node_without_policy": 1,
        "balanced": 2,
    }


def test_nodes_and_env_workers_are_counted() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert (router.num_nodes, router.env_worker_num) == (2, 4)


def test_without_policies_selecting_is_refused() -> None:
    router = SyncNodeAffinityRouter([], {"n": {"env": {"ids": [0]}}})
    assert router.num_nodes == 0
    for env_id in (None, "env-0", "x"):
        with pytest.raises(ValueError, match="at least one policy"):
            router.select_policy(env_id)
    assert not any(router.decision_counts.values())


@pytest.mark.parametrize("env_id", [7, b"env-0", ["env-0"], 1.5])
def test_an_env_id_that_is_no_string_is_refused(env_id: Any) -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    with pytest.raises(TypeError, match="env id as a string or None"):
        router.select_policy(env_id)


def test_an_eval_id_without_a_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="eval ids below 2"):
        SyncNodeAffinityRouter(["a", "b"], CLUSTER)


def test_the_same_object_twice_is_refused() -> None:
    policy = object()
    with pytest.raises(ValueError, match="again at position 2"):
        SyncNodeAffinityRouter([policy, object(), policy], CLUSTER)


def test_policies_may_be_unhashable() -> None:
    router = SyncNodeAffinityRouter([[], [], {}], CLUSTER)
    assert router.select_policy("env-2") == {}


def test_those_that_stay_keep_node_and_turn() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert selected(router, "env-0") == "a"
    router.remove_policy("a")
    assert selected(router, "env-0", "env-0", "env-2") == "bbc"
    router.add_policy("e", "n1")
    assert selected(router, "env-0", "env-0", "env-0") == "beb"


def test_a_node_whose_last_policy_left_falls_back_until_one_joins() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert selected(router, "env-2") == "c"
    router.remove_policy("c")
    assert router.num_nodes == 1
    assert selected(router, "env-2", "env-2") == "ab"
    assert router.decision_counts["node_without_policy"] == 2
    router.add_policy("d", "n2")
    router.add_policy("e", "n3")
    assert selected(router, "env-2", "env-3", "env-2") == "ded"
    assert router.num_nodes == 3


def test_one_that_joins_without_a_node_serves_fallbacks_only() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    router.add_policy("d")
    assert selected(router, None, None, None, None, "env-0", "env-0") == "abcdab"
    router.remove_policy("d")
    assert selected(router, None) == "a"


def test_removing_the_last_in_turn_goes_on_with_the_first() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert selected(router, "env-0") == "a"
    router.remove_policy("b")
    assert selected(router, "env-0", "env-0") == "aa"


def test_joining_twice_or_leaving_twice_is_refused() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    with pytest.raises(ValueError, match="a second time"):
        router.add_policy("a", "n2")
    router.remove_policy("a")
    with pytest.raises(ValueError, match="one of the router's 2 policies"):
        router.remove_policy("a")
    with pytest.raises(TypeError, match="node_id"):
        router.add_policy("d", 3)  # type: ignore[arg-type]


def test_more_envs_than_are_remembered_are_routed_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlightning.dispatch.node_routes.NUM_REMEMBERED", 2)
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    assert selected(router, "env-0", "env-1", "env-2", "x", "env-0", "env-2") == "abcaac"


def test_a_seed_begins_elsewhere_on_every_node() -> None:
    firsts = {
        SyncNodeAffinityRouter(
            ["a", "b", "c"], CLUSTER, tie_break="rotating", start_offset_seed=seed
        ).select_policy("env-0")
        for seed in range(8)
    }
    assert firsts == {"a", "b"}


def test_repr_shows_policies_nodes_and_counts() -> None:
    router = SyncNodeAffinityRouter(["a", "b", "c"], CLUSTER)
    router.select_policy("env-0")
    assert "policies=['a', 'b', 'c'], nodes={'n1': ('a', 'b'), 'n2': ('c',)}" in repr(router)
    assert "'local': 1" in repr(router)
