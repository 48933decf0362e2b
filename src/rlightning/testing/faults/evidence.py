"""What is known of a run with a fault: from itself, and from those who watched it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlightning.config.run_config import RunConfig
from rlightning.engine.training_run import RunResult
from rlightning.testing.faults.call_records import CallRecords, Incarnation
from rlightning.testing.faults.kind import FaultKind
from rlightning.testing.faults.moment import FaultMoment
from rlightning.testing.faults.recording_learner import TrainedFragment
from rlightning.testing.faults.stamped_environment import SimulatorLog


@dataclass(slots=True)
class Evidence:
    """Everything that is known of one run.

    Attributes:
        kind: Of the fault.
        config: Of the run.
        moment: When the fault was to happen, and whom it befell.
        records: How all calls ended.
        num_requests: Requests for actions, whoever answered them and how often they were sent.
        error: What ended the run early.
        result: What the run says of itself.
        rows: Of ``metrics.jsonl``.
        loads: Calls in flight by worker, once the training was over.
        trained: What the learner had.
        logs: What each simulator did; empty if they write nothing.
        living_process_ids: Processes of workers that were there still after the run.
    """

    kind: FaultKind
    config: RunConfig
    moment: FaultMoment
    records: CallRecords
    num_requests: int = 0
    error: BaseException | None = None
    result: RunResult | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    loads: Mapping[str, int] = field(default_factory=dict)
    trained: Sequence[TrainedFragment] = ()
    logs: Sequence[SimulatorLog] = ()
    living_process_ids: Sequence[int] = ()

    @property
    def num_envs(self) -> int:
        """Sub-environments of a worker."""
        return self.config.env_configs[0].num_envs

    @property
    def env_ids(self) -> list[str]:
        """Ids of the environment workers."""
        return sorted(name for name in self._worker_ids() if name.startswith("env-"))

    @property
    def replica_ids(self) -> list[str]:
        """Ids of the replicas."""
        return sorted(name for name in self._worker_ids() if name.startswith("eval-"))

    @property
    def victims(self) -> list[str]:
        """Whom the fault befell."""
        return list(self.moment.victims or ())

    def _worker_ids(self) -> set[str]:
        return {life.worker_id for life in self.records.lives}

    def reported(self, what: str, worker_id: str) -> int:
        """Return a count of faults as the last line of ``metrics.jsonl`` has it."""
        last = self.rows[-1] if self.rows else {}
        return int(last.get(f"faults/{what}/{worker_id}", 0))

    def answered_rows(self, env_id: str) -> int:
        """Return environment steps of a worker whose answer came, by the record of calls."""
        answered = self.records.answered
        lives = self.records.lives_of(env_id)
        return self.num_envs * sum(answered[life, "step"] for life in lives)

    def done_rows(self, life: Incarnation) -> int:
        """Return environment steps that a life has done, by its own files."""
        return sum(log.num_steps for log in self.logs if log.process_id == life.process_id)

    def trained_rows(self, env_id: str) -> int:
        """Return environment steps of a worker that the learner had."""
        return self.num_envs * sum(p.num_rows for p in self.trained if p.env_id == env_id)
