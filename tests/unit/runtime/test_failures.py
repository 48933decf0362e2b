from __future__ import annotations

import pytest

from rlightning.errors import TaskTimeoutError, WorkerDiedError, WorkerError
from rlightning.runtime.failures import FailureKind, failure_kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad observation"), FailureKind.CALLER),
        (WorkerError("no method", worker_id="eval-0"), FailureKind.CALLER),
        (WorkerDiedError("died", worker_id="eval-0"), FailureKind.DEATH),
        (WorkerDiedError("died"), FailureKind.DEATH),
        (WorkerDiedError("an argument's worker died", worker_id="env-3"), FailureKind.CALLER),
        (ConnectionResetError("unavailable"), FailureKind.PASSING),
        (TaskTimeoutError("slow", worker_id="eval-0"), FailureKind.PASSING),
        (TaskTimeoutError("slow", worker_id="env-3"), FailureKind.CALLER),
    ],
)
def test_three_kinds_are_told_apart(error: Exception, kind: FailureKind) -> None:
    assert failure_kind(error, "eval-0") is kind
