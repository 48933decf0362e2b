"""Each of these faults once, at a seeded moment, by the program that measures them."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytest.importorskip("ray")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]


def assert_is_sound(monkeypatch: pytest.MonkeyPatch, kind: str, seed: int) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    series = importlib.import_module("benchmarks.fault_series").run_short(kind, 1, seed)
    (run,) = series.runs
    assert run.victims
    assert run.wrong == []
    assert series.left_behind == []


def test_a_killed_replica_costs_nothing_but_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_is_sound(monkeypatch, "kill-replica", seed=1)


def test_a_killed_environment_worker_costs_its_fragment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_is_sound(monkeypatch, "kill-environment", seed=1)


@pytest.mark.long
def test_a_removed_node_costs_the_fragments_of_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_is_sound(monkeypatch, "remove-node", seed=1)
