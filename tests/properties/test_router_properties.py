"""The routers beside plain, slow references that follow the contract word by word."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rlightning.env_id import worker_index_of
from rlightning.policy.utils.router import NodeAffinityRouter, SimpleRouter

Cluster = dict[str, Any]

loads_lists = st.lists(st.integers(0, 9) | st.integers(0, 10**20), min_size=1, max_size=40)
spill_margins = st.none() | st.integers(0, 4)


def least(loads: list[int], seats: list[int]) -> int:
    """The least loaded seat, of equal ones the first."""
    return min(seats, key=lambda seat: loads[seat])


def plain_level(loads: list[int], num_tasks: int) -> list[int]:
    left, answer = list(loads), []
    for _ in range(num_tasks):
        answer.append(least(left, list(range(len(left)))))
        left[answer[-1]] += 1
    return answer


def plain_affinity(
    loads: list[int], env_ids: list[str], cluster: Cluster, margin: int | None
) -> tuple[list[int], Counter[str]]:
    """Homes first, in task order, then the rest; charges `loads`."""
    everyone = list(range(len(loads)))
    node_of_env = {i: node for node in cluster for i in cluster[node]["env"]["ids"]}
    answer, reasons, homeless = [-1] * len(env_ids), Counter[str](), []
    for position, env_id in enumerate(env_ids):
        node = node_of_env.get(worker_index_of(env_id))  # type: ignore[arg-type]
        seats = sorted(cluster[node]["eval"]["ids"]) if node is not None else []
        if not seats:
            reasons["unknown_env" if node is None else "node_without_policy"] += 1
            homeless.append(position)
            continue
        home, best = least(loads, seats), least(loads, everyone)
        is_spilled = margin is not None and loads[home] - loads[best] > margin
        reasons["spilled" if is_spilled else "local"] += 1
        answer[position] = best if is_spilled else home
        loads[answer[position]] += 1
    for position in homeless:
        answer[position] = least(loads, everyone)
        loads[answer[position]] += 1
    return answer, reasons


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Cluster, list[int]]:
    """Up to four nodes, policies and envs dealt out at random, and the loads."""
    num_nodes = draw(st.integers(1, 4))
    num_policies = draw(st.integers(1, 10))
    places = st.lists(st.integers(0, num_nodes), min_size=num_policies, max_size=num_policies)
    policy_places, env_places = draw(places), draw(st.lists(st.integers(0, num_nodes), max_size=8))
    cluster = {
        f"n{node}": {
            "eval": {"ids": [i for i, place in enumerate(policy_places) if place == node]},
            "env": {"ids": [i for i, place in enumerate(env_places) if place == node]},
        }
        for node in range(num_nodes)
    }
    loads = st.lists(st.integers(0, 6), min_size=num_policies, max_size=num_policies)
    return cluster, draw(loads)


env_id_lists = st.lists(
    st.integers(0, 9).map("env-{}".format) | st.sampled_from(["", "x", "env-1/2"]), max_size=40
)


@given(loads=loads_lists, num_tasks=st.integers(0, 120))
def test_the_simple_router_equals_the_plain_loop(loads: list[int], num_tasks: int) -> None:
    assert SimpleRouter().assign(loads, num_tasks) == plain_level(loads, num_tasks)


@given(loads=loads_lists, calls=st.lists(st.integers(0, 12), max_size=8), seed=st.integers(0, 99))
def test_a_rotating_router_levels_as_well_as_the_lowest(
    loads: list[int], calls: list[int], seed: int
) -> None:
    router = SimpleRouter(tie_break="rotating", start_offset_seed=seed)
    for num_tasks in calls:
        finals = [
            sorted((Counter(dict(enumerate(loads))) + Counter(answer)).values())
            for answer in (router.assign(loads, num_tasks), plain_level(loads, num_tasks))
        ]
        assert finals[0] == finals[1]


@given(loads=st.lists(st.integers(0, 30), min_size=1, max_size=12), num_tasks=st.integers(0, 60))
def test_final_loads_are_as_level_as_any_assignment_makes_them(
    loads: list[int], num_tasks: int
) -> None:
    chosen = Counter(SimpleRouter().assign(loads, num_tasks))
    finals = [load + chosen[i] for i, load in enumerate(loads)]
    # Moving one task never helps: who received one is at most one above everybody.
    assert all(finals[i] <= min(finals) + 1 for i in chosen)


@settings(max_examples=300)
@given(case=clusters(), env_ids=env_id_lists, margin=spill_margins)
def test_node_affinity_equals_the_plain_reading(
    case: tuple[Cluster, list[int]], env_ids: list[str], margin: int | None
) -> None:
    cluster, loads = case
    router = NodeAffinityRouter(cluster, spill_margin=margin)
    for _ in range(2):
        expected_loads, before = list(loads), Counter(router.decision_counts)
        expected, reasons = plain_affinity(expected_loads, env_ids, cluster, margin)
        assert router.assign(loads, len(env_ids), env_ids) == expected
        assert loads == expected_loads
        assert Counter(router.decision_counts) - before == reasons


@given(case=clusters(), env_ids=env_id_lists, seed=st.integers(0, 99), margin=spill_margins)
def test_rotating_ties_change_no_nodes_total_and_lose_no_charge(
    case: tuple[Cluster, list[int]], env_ids: list[str], seed: int, margin: int | None
) -> None:
    cluster, loads = case
    options: dict[str, Any] = {"tie_break": "rotating", "start_offset_seed": seed}
    router = NodeAffinityRouter(cluster, spill_margin=margin, **options)
    charged = list(loads)
    answer = router.assign(charged, len(env_ids), env_ids)
    assert [load + answer.count(i) for i, load in enumerate(loads)] == charged
    if margin is None:
        plain = list(loads)
        plain_affinity(plain, env_ids, cluster, None)
        assert sorted(plain) == sorted(charged)


@given(loads=st.lists(st.integers(0, 9), min_size=1, max_size=9), num_tasks=st.integers(0, 40))
def test_on_one_node_affinity_equals_the_simple_router(loads: list[int], num_tasks: int) -> None:
    cluster = {"n": {"eval": {"ids": list(range(len(loads)))}, "env": {"ids": [0]}}}
    expected = SimpleRouter().assign(loads, num_tasks)
    for margin in (None, 0, 3):
        router = NodeAffinityRouter(cluster, spill_margin=margin)
        assert router.assign(list(loads), num_tasks, ["env-0"] * num_tasks) == expected


@given(loads=st.lists(st.integers(0, 9), min_size=4, max_size=4), order=st.permutations(range(12)))
def test_the_order_of_the_tasks_changes_no_nodes_total(loads: list[int], order: list[int]) -> None:
    cluster = {
        "a": {"eval": {"ids": [0, 1]}, "env": {"ids": [0]}},
        "b": {"eval": {"ids": [2, 3]}, "env": {"ids": [1]}},
    }
    env_ids = ["env-0"] * 7 + ["env-1"] * 5
    totals = []
    for shuffled in (env_ids, [env_ids[i] for i in order]):
        charged = list(loads)
        NodeAffinityRouter(cluster).assign(charged, 12, shuffled)
        totals.append((sum(charged[:2]), sum(charged[2:])))
    assert totals[0] == totals[1]


def test_thousands_of_policies_and_tasks_equal_the_plain_references() -> None:
    draw = random.Random(3)
    for num_policies, num_tasks, max_load in [(1_000, 3_000, 5), (2_000, 1_500, 10**6)]:
        loads = [draw.randint(0, max_load) for _ in range(num_policies)]
        cluster = {
            f"n{node}": {
                "eval": {"ids": list(range(node, num_policies, 20))},
                "env": {"ids": list(range(node, num_tasks, 20))},
            }
            for node in range(20)
        }
        env_ids = [f"env-{draw.randrange(num_tasks + 9)}" for _ in range(num_tasks)]
        simple = SimpleRouter().assign(loads, num_tasks)
        assert simple[:200] == plain_level(loads, 200)
        for margin in (None, 3):
            charged, expected_loads = list(loads), list(loads)
            expected, _ = plain_affinity(expected_loads, env_ids[:400], cluster, margin)
            router = NodeAffinityRouter(cluster, spill_margin=margin)
            assert router.assign(charged, 400, env_ids[:400]) == expected
            assert charged == expected_loads
