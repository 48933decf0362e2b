from __future__ import annotations

from rlightning.metrics.task_shares import id_order, tasks_by_replica


def test_requests_are_added_up_by_replica_in_order_of_the_number():
    tasks = {("env-0", "eval-10"): 1, ("env-0", "eval-9"): 2, ("env-1", "eval-10"): 5}

    assert list(tasks_by_replica(tasks).items()) == [("eval-9", 2), ("eval-10", 6)]


def test_ids_without_a_number_can_be_ordered_too():
    assert sorted(["eval-2", "own", "eval-1"], key=id_order) == ["eval-1", "eval-2", "own"]
