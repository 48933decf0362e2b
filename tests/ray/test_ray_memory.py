"""The benchmark of memory, for some seconds, and how it judges what it saw."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("ray")

ROOT = Path(__file__).resolve().parents[2]
MIB = 2**20
SECONDS = 20.0
LOOSE_SHARE = 0.25


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.resident_memory")


@pytest.fixture
def cluster_memory(memory: ModuleType) -> ModuleType:
    return importlib.import_module("benchmarks.cluster_memory")


@pytest.mark.slow
@pytest.mark.long
def test_B79_with_a_slow_replica_few_requests_wait_and_memory_stays_flat(
    cluster_memory: ModuleType,
) -> None:
    run = cluster_memory.memory_run(SECONDS)
    assert run.env_steps > 0
    assert run.most_pending <= run.pending_bound
    judged = run.judged()
    assert {"driver", "eval-0", "eval-1", "object store"} <= set(judged)
    grown = {name: change for name, change in judged.items() if not change.is_flat(LOOSE_SHARE)}
    assert grown == {}


def record_of(memory: ModuleType, *mebibytes: float):
    """Return a record of one look each second."""
    record = memory.MemoryRecord()
    for second, amount in enumerate(mebibytes):
        record.seconds.append(float(second))
        record.samples.append({"driver": amount * MIB})
    return record


def test_windows_after_the_warm_up_are_compared_with_the_first_of_them(memory: ModuleType) -> None:
    record = record_of(memory, 1, 1, 100, 102, 90, 92, 110, 108)
    change = record.changes(warm_up_seconds=2.0, window_seconds=2.0)["driver"]
    assert change.first_bytes == 101 * MIB
    assert change.last_bytes == 109 * MIB
    assert change.largest_bytes == -10 * MIB
    assert change.is_flat(0.1)
    assert not change.is_flat(0.09)


def test_a_slow_growth_is_not_flat(memory: ModuleType) -> None:
    record = record_of(memory, *range(100, 130))
    assert not record.changes(0.0, 5.0)["driver"].is_flat(0.1)


def test_a_process_that_is_not_there_all_the_time_is_not_judged(memory: ModuleType) -> None:
    record = record_of(memory, 1, 1, 1)
    record.samples[1]["late"] = 5.0
    assert set(record.changes(0.0, 1.0)) == {"driver"}
