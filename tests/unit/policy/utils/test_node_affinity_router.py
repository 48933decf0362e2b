from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlightning.policy.utils.router import NodeAffinityRouter, SimpleRouter

CLUSTER: dict[str, Any] = {
    "n0": {"train": {"count": 1, "ids": [0]}},
    "n1": {"eval": {"count": 2, "ids": [0, 1]}, "env": {"count": 4, "ids": [0, 1, 2, 3]}},
    "n2": {"eval": {"count": 1, "ids": [2]}, "env": {"count": 2, "ids": [4, 5]}},
    "n3": {"env": {"ids": [6]}},
}
TWO_ENV_NODES: dict[str, Any] = {"a": {"env": {"ids": [0, 2]}}, "b": {"env": {"ids": [1]}}}


def test_the_published_charge_stays() -> None:
    loads = [0, 0, 1]
    router = NodeAffinityRouter(TWO_ENV_NODES, ["a", "b", "a"])
    assert router.assign(loads, 3, ["env-0", "env-1", "env-2"]) == [0, 1, 0]
    assert loads == [2, 1, 1]


def test_tasks_without_a_home_are_placed_last_and_answered_in_order() -> None:
    router = NodeAffinityRouter(CLUSTER)
    loads = [0, 0, 0]
    # Homes first: env-4 on 2, env-0 on 0. Then loads 1, 0, 1: policy 1, and after it policy 0.
    assert router.assign(loads, 4, ["what", "env-4", "env-6", "env-0"]) == [1, 2, 0, 0]
    assert loads == [2, 1, 1]
    assert router.decision_counts == {
        "local": 2,
        "spilled": 0,
        "unknown_env": 1,
        "node_without_policy": 1,
        "balanced": 0,
    }


def test_a_well_formed_env_id_outside_the_distribution_is_unknown() -> None:
    router = NodeAffinityRouter(CLUSTER)
    router.assign([0, 0, 0], 1, ["env-77"])
    assert router.decision_counts["unknown_env"] == 1


def test_without_env_ids_it_answers_as_the_simple_router_and_charges() -> None:
    loads = [2, 0, 1]
    router = NodeAffinityRouter(CLUSTER)
    assert router.assign(loads, 4) == SimpleRouter().assign([2, 0, 1], 4)
    assert sum(loads) == 7
    assert router.decision_counts["balanced"] == 4


def test_without_a_known_policy_node_it_answers_as_the_simple_router() -> None:
    router = NodeAffinityRouter(TWO_ENV_NODES, [None, None])
    assert router.assign([1, 0], 3, ["env-0", "env-1", "x"]) == SimpleRouter().assign([1, 0], 3)
    assert NodeAffinityRouter({}).assign([1, 0], 3, ["x"] * 3) == SimpleRouter().assign([1, 0], 3)


def test_the_list_of_policy_nodes_wins_over_the_distribution() -> None:
    router = NodeAffinityRouter(CLUSTER, np.array(["n2", None, "n1"], dtype=object))
    assert router.assign([0, 0, 0], 2, ["env-0", "env-4"]) == [2, 0]


def test_policies_that_the_distribution_does_not_name_serve_fallbacks() -> None:
    router = NodeAffinityRouter(CLUSTER)
    assert router.assign([5, 5, 5, 0], 2, ["env-0", "x"]) == [0, 3]


def test_the_same_envs_again_and_others_after_them_go_home() -> None:
    router = NodeAffinityRouter(CLUSTER)
    for env_ids, expected in [
        (["env-0", "env-4"], [0, 2]),
        (["env-0", "env-4"], [0, 2]),
        (["env-4", "env-0"], [2, 0]),
        (("env-4",), [2]),
        (np.array(["env-5", "env-3"]), [2, 0]),
    ]:
        assert router.assign([0, 0, 0], len(env_ids), env_ids) == expected  # type: ignore[arg-type]


def test_changing_the_given_lists_afterwards_changes_nothing() -> None:
    policy_node_ids: list[str | None] = ["a", "b"]
    env_ids = ["env-0", "env-1"]
    router = NodeAffinityRouter(TWO_ENV_NODES, policy_node_ids)
    router.assign([0, 0], 2, env_ids)
    policy_node_ids[0] = "b"
    env_ids[0] = "env-1"
    assert router.assign([0, 0], 2, env_ids) == [1, 1]


@pytest.mark.parametrize(
    ("loads", "says"),
    [([0, 0], "3 entries and 2 loads"), ([0] * 4, "3 entries and 4 loads"), ([], "0 loads")],
)
def test_another_number_of_loads_than_policy_nodes_is_refused(loads: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        NodeAffinityRouter(CLUSTER, ["n1", "n1", "n2"]).assign(loads, 1, ["env-0"])


def test_an_eval_id_without_a_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="below 2"):
        NodeAffinityRouter(CLUSTER).assign([0, 0], 1)


def test_nothing_to_assign_is_an_empty_list() -> None:
    assert NodeAffinityRouter(CLUSTER).assign([0, 0, 0], 0, []) == []
    assert NodeAffinityRouter(CLUSTER).assign([], 0) == []
    with pytest.raises(ValueError, match="at least one policy"):
        NodeAffinityRouter(CLUSTER).assign([], 1)


@pytest.mark.parametrize(
    "env_ids", ["ab", b"ab", ["a", 1], ["a", None], {"a", "b"}, {"a": 1, "b": 2}, iter("ab"), 2]
)
def test_env_ids_of_another_type_are_refused(env_ids: Any) -> None:
    with pytest.raises(TypeError, match="expected env_ids"):
        NodeAffinityRouter(CLUSTER).assign([0, 0, 0], 2, env_ids)


@pytest.mark.parametrize("env_ids", [[], ["env-0"] * 3])
def test_another_number_of_env_ids_is_refused_naming_both(env_ids: list[str]) -> None:
    with pytest.raises(ValueError, match=f"each of 2 tasks, got {len(env_ids)} env ids"):
        NodeAffinityRouter(CLUSTER).assign([0, 0, 0], 2, env_ids)


@pytest.mark.parametrize("policy_node_ids", ["ab", {"a", "b"}, ["a", 1], [b"a"], 3])
def test_policy_nodes_of_another_type_are_refused(policy_node_ids: Any) -> None:
    with pytest.raises(TypeError, match="expected policy_node_ids"):
        NodeAffinityRouter(CLUSTER, policy_node_ids)


@pytest.mark.parametrize("kind", ["u1", "i8", "f4", "O", ">i4"])
def test_arrays_are_charged_in_their_own_type(kind: str) -> None:
    loads = np.array([0, 0, 1], dtype=kind)
    NodeAffinityRouter(CLUSTER).assign(loads, 3, ["env-0", "env-4", "env-0"])
    assert loads.tolist() == [1, 1, 2]
    assert loads.dtype == np.dtype(kind)


def test_elements_keep_their_type() -> None:
    loads: list[Any] = [0.0, np.int16(3), 7]
    NodeAffinityRouter({}).assign(loads, 1)
    assert loads == [1.0, 3, 7]
    assert [type(load) for load in loads] == [float, np.int16, int]


def test_what_cannot_be_changed_is_not_charged() -> None:
    frozen = np.zeros(3, dtype=np.int64)
    frozen.flags.writeable = False
    router = NodeAffinityRouter(CLUSTER)
    assert router.assign(frozen, 1, ["env-0"]) == [0]
    assert router.assign((0, 0, 0), 1, ["env-0"]) == [0]
    assert frozen.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "loads",
    [
        np.array([254, 255], dtype=np.uint8),
        np.array([2046, 2048], dtype=np.float16),
        np.array([65_504, 65_504], dtype=np.float16),
        [np.int8(126), np.int8(127)],
        [2.0**53 - 1, 2.0**53],
    ],
    ids=repr,
)
def test_a_charge_that_does_not_fit_is_refused_and_nothing_changes(loads: Any) -> None:
    before = list(loads)
    router = NodeAffinityRouter({}, tie_break="rotating")
    with pytest.raises(ValueError, match="to fit its type"):
        router.assign(loads, 4)
    assert list(loads) == before
    assert not any(router.decision_counts.values())
    assert router.assign([0, 0], 1) == [0]


@pytest.mark.parametrize(
    ("spill_margin", "error"),
    [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError), (True, TypeError)],
)
def test_a_spill_margin_that_is_none_is_refused(spill_margin: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="spill_margin"):
        NodeAffinityRouter(CLUSTER, spill_margin=spill_margin)


def test_a_task_leaves_home_only_beyond_the_margin() -> None:
    router = NodeAffinityRouter(CLUSTER, spill_margin=2)
    # Home n1 at 3, elsewhere 0: 3 exceeds 2, so env-0 goes to policy 2; then 3 - 1 does not.
    assert router.assign([3, 3, 0], 3, ["env-0", "x", "env-1"]) == [2, 2, 0]
    assert router.decision_counts["spilled"] == 1
    assert router.decision_counts["local"] == 1
    assert router.decision_counts["unknown_env"] == 1


def test_an_endless_margin_never_spills() -> None:
    router = NodeAffinityRouter(CLUSTER, spill_margin=float("inf"))
    assert router.assign([9, 9, 0], 2, ["env-0", "env-1"]) == [0, 1]


def test_ties_rotate_on_each_node_by_itself() -> None:
    router = NodeAffinityRouter(CLUSTER, tie_break="rotating")
    answers = [router.assign([0, 0, 0], 1, [env_id])[0] for env_id in ["env-0", "env-4"] * 4]
    assert answers == [0, 2, 1, 2, 0, 2, 1, 2]


def test_repr_shows_policies_nodes_and_counts() -> None:
    text = repr(NodeAffinityRouter(CLUSTER, spill_margin=2))
    assert "'n1': [0, 1]" in text
    assert "spill_margin=2" in text
    assert "'spilled': 0" in text
