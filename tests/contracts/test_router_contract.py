"""What every router promises, and the reported faults that concern routers alone."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from rlightning.policy.utils import router as router_module
from rlightning.policy.utils.router import (
    AsyncRouter,
    NodeAffinityRouter,
    SimpleRouter,
    SyncNodeAffinityRouter,
    SyncRouter,
    SyncSimpleRouter,
    create_router,
)

TWO_BY_TWO: dict[str, Any] = {
    "a": {"eval": {"ids": [0, 1]}, "env": {"ids": list(range(0, 8, 2))}},
    "b": {"eval": {"ids": [2, 3]}, "env": {"ids": list(range(1, 8, 2))}},
}
ENV_OF_A, ENV_OF_B = "env-0", "env-1"


def run_in_fresh_interpreter(code: str, hash_seed: str = "0", *flags: str) -> str:
    answer = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return answer.stdout.strip()


def test_importing_the_module_loads_neither_torch_nor_ray_and_starts_no_thread() -> None:
    code = (
        "import sys, threading, rlightning.policy.utils.router\n"
        "print([m for m in ('torch', 'ray') if m in sys.modules], threading.active_count())"
    )
    assert run_in_fresh_interpreter(code) == "[] 1"


def test_the_seven_published_names_are_of_this_module() -> None:
    for published in (
        AsyncRouter,
        NodeAffinityRouter,
        SimpleRouter,
        SyncNodeAffinityRouter,
        SyncRouter,
        SyncSimpleRouter,
        create_router,
    ):
        assert published.__module__ == "rlightning.policy.utils.router"
        assert getattr(router_module, published.__name__) is published


@pytest.mark.parametrize(
    ("published", "parameters"),
    [
        (AsyncRouter.assign, ["self", "current_loads", "num_tasks", "env_ids"]),
        (SimpleRouter.assign, ["self", "current_loads", "num_tasks", "env_ids"]),
        (NodeAffinityRouter.assign, ["self", "current_loads", "num_tasks", "env_ids"]),
        (NodeAffinityRouter, ["component_distribution", "policy_node_ids"]),
        (SyncRouter.select_policy, ["self", "env_id"]),
        (SyncSimpleRouter, ["eval_policies"]),
        (SyncSimpleRouter.select_policy, ["self", "env_id"]),
        (SyncNodeAffinityRouter, ["eval_policies", "component_distribution"]),
        (SyncNodeAffinityRouter.select_policy, ["self", "env_id"]),
        (
            create_router,
            ["rollout_mode", "router_type", "eval_policies", "global_resource_manager"],
        ),
    ],
)
def test_published_parameters_keep_names_and_order(published: Any, parameters: list[str]) -> None:
    found = [
        parameter.name
        for parameter in inspect.signature(published).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    assert found == parameters


def test_the_published_bases_and_abstract_methods_stay() -> None:
    assert SimpleRouter.__bases__ == NodeAffinityRouter.__bases__ == (AsyncRouter,)
    assert SyncSimpleRouter.__bases__ == SyncNodeAffinityRouter.__bases__ == (SyncRouter,)
    assert AsyncRouter.__abstractmethods__ == {"assign"}
    assert SyncRouter.__abstractmethods__ == {"select_policy"}


def test_answers_are_the_same_in_any_process_and_under_any_hash_seed() -> None:
    code = (
        "from rlightning.policy.utils.router import NodeAffinityRouter\n"
        "cluster = {f'n{i}': {'env': {'ids': [i]}, 'eval': {'ids': [i]}} for i in range(5)}\n"
        "router = NodeAffinityRouter(cluster, spill_margin=1)\n"
        "ids = [f'env-{i * i % 7}' for i in range(40)]\n"
        "print(router.assign([3, 1, 4, 1, 5, 9], 40, ids), router.decision_counts)"
    )
    assert len({run_in_fresh_interpreter(code, hash_seed) for hash_seed in ("0", "1", "77")}) == 1


def test_checks_stand_without_assertions() -> None:
    code = (
        "from rlightning.policy.utils.router import SimpleRouter\n"
        "try: SimpleRouter().assign([-1], 1)\n"
        "except ValueError as error: print(type(error).__name__)"
    )
    assert run_in_fresh_interpreter(code, "0", "-O") == "RoutingValueError"


def test_B1_single_tasks_on_an_idle_pool() -> None:
    lowest, rotating = SimpleRouter(), SimpleRouter(tie_break="rotating")
    assert Counter(lowest.assign([0] * 4, 1)[0] for _ in range(200)) == {0: 200}
    assert Counter(rotating.assign([0] * 4, 1)[0] for _ in range(200)) == dict.fromkeys(
        range(4), 50
    )
    sync = SyncSimpleRouter(list("abcd"))
    assert Counter(sync.select_policy() for _ in range(200)) == dict.fromkeys("abcd", 50)


def test_B2_strict_affinity_stays_and_soft_affinity_spills_up_to_the_margin() -> None:
    loads = [40, 40, 0, 0]
    soft = NodeAffinityRouter(TWO_BY_TWO, spill_margin=2)
    assert soft.assign(list(loads), 8, [ENV_OF_A] * 8) == [2, 3] * 4
    assert soft.decision_counts["spilled"] == 8
    strict = NodeAffinityRouter(TWO_BY_TWO)
    assert strict.assign(list(loads), 8, [ENV_OF_A] * 8) == [0, 1] * 4


def test_B8_a_rebuilt_router_avoids_who_has_work_in_flight() -> None:
    in_flight = [20, 0, 0, 0]
    for rebuilt in (SimpleRouter(), NodeAffinityRouter(TWO_BY_TWO, [None] * 4)):
        assert 0 not in rebuilt.assign(list(in_flight), 20, ["env-0"] * 20)


@pytest.mark.parametrize("env_id", ["what", "env-99", "env-5"])
def test_B10_every_fallback_takes_the_least_loaded(env_id: str) -> None:
    cluster: dict[str, Any] = {"a": {"eval": {"ids": [0]}}, "b": {"env": {"ids": [5]}}}
    assert NodeAffinityRouter(cluster).assign([50, 0], 1, [env_id]) == [1]
    assert NodeAffinityRouter(cluster, spill_margin=0).assign([50, 0], 1, [env_id]) == [1]


def test_B11_alternating_nodes_do_not_skew_each_other() -> None:
    router = SyncNodeAffinityRouter(list("wxyz"), TWO_BY_TWO)
    chosen = Counter(router.select_policy((ENV_OF_A, ENV_OF_B)[i % 2]) for i in range(400))
    assert chosen == dict.fromkeys("wxyz", 100)


@pytest.mark.parametrize("seed_step", [1, 4, 100, 1_000])
def test_B13_routers_that_start_together_begin_apart_when_seeded(seed_step: int) -> None:
    options: list[dict[str, Any]] = [
        {"tie_break": "rotating", "start_offset_seed": number * seed_step} for number in range(16)
    ]
    for firsts in (
        [SimpleRouter(**each).assign([0] * 4, 1)[0] for each in options],
        [NodeAffinityRouter({}, **each).assign([0] * 4, 1)[0] for each in options],
        [SyncSimpleRouter(list("abcd"), **each).select_policy() for each in options],
        [SyncNodeAffinityRouter(list("abcd"), {}, **each).select_policy() for each in options],
    ):
        assert max(Counter(firsts).values()) <= 8


def test_B13_without_a_seed_all_begin_with_the_first_as_documented() -> None:
    assert {SyncSimpleRouter(list("abcd")).select_policy() for _ in range(16)} == {"a"}
    assert {SimpleRouter().assign([0] * 4, 1)[0] for _ in range(16)} == {0}


def test_B18_routers_that_are_given_shared_loads_avoid_each_others_work() -> None:
    shared = [0, 0, 0, 0]
    first, second = NodeAffinityRouter({}, ["a", *"bcd"]), NodeAffinityRouter({}, list("abcd"))
    shared[0] += 40
    first.assign(shared, 1)
    assert 0 not in second.assign(shared, 12)


def test_B23_one_node_of_many_keeps_at_most_its_share_plus_the_margin() -> None:
    cluster: dict[str, Any] = {
        "a": {"eval": {"ids": [0]}, "env": {"ids": list(range(8))}},
        "b": {"eval": {"ids": [1, 2, 3]}},
    }
    router = NodeAffinityRouter(cluster, spill_margin=2)
    chosen = Counter(router.assign([0] * 4, 80, [f"env-{i % 8}" for i in range(80)]))
    # Home is at most margin + 1 = 3 above the others: (80 + 3 * 3) / 4 = 22.25.
    assert chosen[0] <= 22
    assert max(chosen.values()) - min(chosen.values()) <= 3


def test_B24_a_busy_home_is_left_and_the_reason_is_counted() -> None:
    router = NodeAffinityRouter(TWO_BY_TWO, spill_margin=1)
    assert router.assign([4, 4, 0, 0], 1, [ENV_OF_A]) == [2]
    assert router.decision_counts["spilled"] == 1


def test_B28_two_routers_agree_on_the_home_of_an_env() -> None:
    first = SyncNodeAffinityRouter(list("wxyz"), TWO_BY_TWO)
    second = SyncNodeAffinityRouter(list("wxyz"), TWO_BY_TWO)
    second.select_policy(ENV_OF_B)
    homes = [{router.select_policy(ENV_OF_A) for _ in range(4)} for router in (first, second)]
    assert homes == [{"w", "x"}] * 2


def test_B40_only_the_loads_that_are_given_decide() -> None:
    class Reporting:
        reported_load = 100

    router = create_router("async", "simple", [Reporting(), Reporting()])
    assert isinstance(router, AsyncRouter)
    assert [router.assign([3, 4], 1) for _ in range(3)] == [[0]] * 3
