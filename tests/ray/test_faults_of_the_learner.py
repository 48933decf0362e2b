"""The one worker whose death ends a run."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlightning.engine.training import resume
from rlightning.errors import WorkerLostError
from rlightning.testing.faults.kind import FaultKind, Scene
from rlightning.testing.faults.kinds import process_id_of
from rlightning.testing.faults.leftovers import Leftovers
from rlightning.testing.faults.trial import SHORT, Trial

LATE_SEED = 1


def kill_learner(scene: Scene) -> list[str]:
    os.kill(process_id_of(scene.assembly.policies.learner), signal.SIGKILL)
    return ["learner-0"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_death_of_the_learner_ends_the_run_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    before = Leftovers.now()
    kind = FaultKind("kill-learner", "SIGKILL to the process of the learner", kill_learner)
    settings = (*SHORT, "engine.checkpoint_interval=1")
    seen = Trial(kind, LATE_SEED, tmp_path, settings).run()
    assert seen.victims == ["learner-0"]
    assert isinstance(seen.error, WorkerLostError)
    for part in ("'learner-0'", "node", "cause:", "last sign of life:", "rlightning resume"):
        assert part in str(seen.error)
    assert seen.living_process_ids == []
    assert not any(seen.loads.values())

    (folder,) = (tmp_path / "runs").iterdir()
    reached = max(int(row["iteration"]) for row in seen.rows)
    assert reached > 0
    result = resume(folder)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == list(range(1, result.iterations + 1))
    assert result.env_steps >= 2000
    assert result.iterations > reached
    assert before.added_since() == []
