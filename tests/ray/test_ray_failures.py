"""What people are told of Ray's own errors, without a Ray."""

from __future__ import annotations

import pytest

pytest.importorskip("ray")

import ray.exceptions as of_ray

from rlightning.errors import WorkerDiedError, WorkerError
from rlightning.runtime.failures import FailureKind, failure_kind
from rlightning.runtime.ray.ray_failures import is_death, translated

WHERE = "#2 on node abc"
OUT_OF_MEMORY = """1 worker(s) were killed due to the node running low on memory.
Memory on the node was 5.88GB used / 6.00GB limit
Object store memory usage: [- objects spillable: 0
and much more that nobody reads"""


def test_an_end_for_want_of_memory_is_a_death_and_says_what_to_do() -> None:
    ended = of_ray.OutOfMemoryError(OUT_OF_MEMORY)
    assert is_death(ended, "actor")
    error = translated(ended, "eval-0", WHERE)
    assert isinstance(error, WorkerDiedError)
    assert failure_kind(error, "eval-0") is FailureKind.DEATH
    text = str(error)
    assert "worker 'eval-0' (#2 on node abc), but it died: out of memory: 1 worker(s)" in text
    assert "5.88GB used / 6.00GB limit" in text
    assert "cluster.placement.<env|eval|train>.memory" in text
    assert "RAY_memory_usage_threshold" in text
    assert "nobody reads" not in text


@pytest.mark.parametrize("kind", [of_ray.ObjectStoreFullError, of_ray.OutOfDiskError])
@pytest.mark.parametrize("is_within_a_task", [False, True])
def test_a_full_store_is_named_with_the_setting_that_enlarges_it(
    kind: type[Exception], is_within_a_task: bool
) -> None:
    full: Exception = kind("no room for it")
    if is_within_a_task:
        full = of_ray.RayTaskError("run", "a traceback", full).as_instanceof_cause()
    error = translated(full, "env-0", WHERE)
    assert isinstance(error, WorkerError)
    assert not isinstance(error, WorkerDiedError)
    assert error.worker_id == "env-0"
    assert "expected room in Ray's object store for what worker 'env-0'" in str(error)
    assert "raise cluster.object_store_mib" in str(error)
