from __future__ import annotations

from dataclasses import replace

import pytest

from rlightning.engine.hooks import Hook, HookChain
from rlightning.testing.iteration_reports import create_iteration_report


class Noting(Hook):
    def __init__(self, name: str, notes: list[str]) -> None:
        self._name, self._notes = name, notes

    def run_started(self) -> None:
        self._notes.append(f"{self._name} started")

    def iteration_ended(self, report):
        self._notes.append(f"{self._name} saw {report.env_steps}")
        return replace(report, env_steps=report.env_steps + 1)

    def run_ended(self) -> None:
        self._notes.append(f"{self._name} ended")


def test_a_plain_hook_does_nothing() -> None:
    hook, report = Hook(), create_iteration_report()
    hook.run_started()
    assert hook.iteration_ended(report) is report
    hook.run_ended()


def test_a_chain_calls_its_hooks_in_order_and_hands_the_report_on() -> None:
    notes: list[str] = []
    chain = HookChain([Noting("one", notes), Noting("two", notes)])
    chain.run_started()
    assert chain.iteration_ended(create_iteration_report(env_steps=5)).env_steps == 7
    chain.run_ended()
    assert notes == [
        "one started", "two started", "one saw 5", "two saw 6", "one ended", "two ended",
    ]  # fmt: skip


def test_an_error_in_a_hook_passes_through_the_chain() -> None:
    class Failing(Hook):
        def iteration_ended(self, report):
            raise ValueError("disk full")

    notes: list[str] = []
    with pytest.raises(ValueError, match="disk full"):
        HookChain([Failing(), Noting("two", notes)]).iteration_ended(create_iteration_report())
    assert notes == []
