from __future__ import annotations

from typing import Any

import pytest

from rlightning.errors import WorkerError
from rlightning.runtime.gathered import (
    GatherRule,
    gather_rule_of,
    gather_rules_of,
    gathered,
    gathered_answers,
)


class Replica:
    @gathered(max_batch_calls=8, window_seconds=0.1)
    def act(self, requests: list[Any]) -> list[Any]:
        return requests

    def version(self) -> int:
        return 1


def test_a_marked_method_has_a_rule_and_stays_a_method() -> None:
    assert gather_rule_of(Replica().act) == GatherRule(8, 0.1)
    assert gather_rule_of(Replica().version) is None
    assert gather_rules_of(Replica()) == {"act": GatherRule(8, 0.1)}
    assert Replica().act([1]) == [1]


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(WorkerError, match="max_batch_calls of at least 1"):
        gathered(max_batch_calls=limit)


def test_a_negative_window_is_refused() -> None:
    with pytest.raises(WorkerError, match="window_seconds of at least 0"):
        gathered(window_seconds=-1.0)


def test_something_else_than_a_list_of_answers_is_refused() -> None:
    with pytest.raises(WorkerError, match="got tuple"):
        gathered_answers(tuple, "act", [1])
