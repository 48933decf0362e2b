"""Each fault of a process that lives on, once, at a seeded moment of a training."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytest.importorskip("ray")

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]


def told_after(monkeypatch: pytest.MonkeyPatch, kind: str, seed: int = 1) -> dict[str, int]:
    """Run once with the fault; return what the run, which must be sound, tells of it."""
    monkeypatch.syspath_prepend(str(ROOT))
    series = importlib.import_module("benchmarks.fault_series").run_short(kind, 1, seed)
    (run,) = series.runs
    assert run.victims
    assert run.wrong == []
    assert series.left_behind == []
    told: dict[str, int] = run.told
    return told


def restarts(told: dict[str, int]) -> int:
    return sum(count for name, count in told.items() if "/restarts/" in name)


def test_a_frozen_replica_is_dead_and_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert restarts(told_after(monkeypatch, "freeze-replica")) == 1


def test_a_frozen_environment_worker_is_dead_and_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert restarts(told_after(monkeypatch, "freeze-environment")) == 1


@pytest.mark.parametrize("kind", ["raise-in-act", "raise-in-act-always"])
def test_a_request_whose_replica_raised_goes_to_another(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    told = told_after(monkeypatch, kind)
    assert restarts(told) == 0
    assert sum(count for name, count in told.items() if "/retried_calls/" in name) >= 1


def test_an_environment_worker_whose_environment_raised_is_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert restarts(told_after(monkeypatch, "raise-in-step")) == 1


def test_a_slow_replica_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_after(monkeypatch, "slow-replica") == {}


def test_a_store_that_others_have_filled_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_after(monkeypatch, "full-store") == {}


def test_workers_that_were_ended_for_want_of_memory_are_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert restarts(told_after(monkeypatch, "memory-of-environment")) >= 1
