"""An update some of whose fragments are gone with their nodes."""

from __future__ import annotations

import pytest

from rlightning.engine.surviving_fragments import update_with_survivors
from rlightning.errors import WorkerDiedError

REPORT = object()


class Named:
    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id


class Environments:
    def __init__(self) -> None:
        self.given_up: list[str | None] = []

    def give_up_fragment(self, error: WorkerDiedError) -> bool:
        self.given_up.append(error.worker_id)
        return str(error.worker_id).startswith("env-")


class Policies:
    """Finds the fragments of some workers gone, one at a time."""

    def __init__(self, *gone: str) -> None:
        self.gone = list(gone)
        self.tried: list[list[str]] = []

    def update(self, fragments, progress):
        self.tried.append([task.worker_id for task in fragments])
        if self.gone:
            raise WorkerDiedError("its node is gone", worker_id=self.gone.pop(0))
        return REPORT


FRAGMENTS = [Named(f"env-{number}") for number in range(3)]


def test_an_update_with_all_fragments_is_one_update() -> None:
    environments, policies = Environments(), Policies()
    assert update_with_survivors(environments, policies, FRAGMENTS, 0.5) is REPORT
    assert policies.tried == [["env-0", "env-1", "env-2"]]
    assert environments.given_up == []


def test_those_that_are_gone_are_given_up_one_after_the_other_and_the_others_trained_on() -> None:
    environments, policies = Environments(), Policies("env-2", "env-0")
    assert update_with_survivors(environments, policies, FRAGMENTS, 0.5) is REPORT
    assert policies.tried == [["env-0", "env-1", "env-2"], ["env-0", "env-1"], ["env-1"]]
    assert environments.given_up == ["env-2", "env-0"]


def test_with_none_left_there_is_no_update() -> None:
    environments, policies = Environments(), Policies("env-0", "env-1", "env-2")
    assert update_with_survivors(environments, policies, FRAGMENTS, 0.5) is None
    assert update_with_survivors(environments, policies, [], 0.5) is None


def test_the_death_of_somebody_else_is_not_hidden() -> None:
    with pytest.raises(WorkerDiedError):
        update_with_survivors(Environments(), Policies("learner-0"), FRAGMENTS, 0.5)
