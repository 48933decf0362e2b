"""One run with one fault."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.config.yaml_text import config_yaml
from rlightning.engine.assembly import Assembly
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.run_lock import RunLock
from rlightning.engine.training_run import TrainingRun
from rlightning.policy.pool import PolicyPool
from rlightning.runtime.base import Task
from rlightning.testing.faults.call_records import CallRecords
from rlightning.testing.faults.evidence import Evidence
from rlightning.testing.faults.kind import FaultKind, RemovesNodes, Scene
from rlightning.testing.faults.moment import FaultMoment
from rlightning.testing.faults.obedient_replica import ObedientReplica
from rlightning.testing.faults.recording_learner import RecordingLearner, read_trained
from rlightning.testing.faults.stamped_environment import ENV_ID, read_logs
from rlightning.types import ActionBatch, ObservationBatch

PRESET = "cartpole-ppo"
LEARNER = "rlightning.engine.assembly.Learner"
REPLICA = "rlightning.engine.assembly.PolicyReplica"
QUIET = ("logging.live=off", "logging.tensorboard=false", "cluster.backend=ray")
SHORT = (
    *QUIET,
    f"env.id={ENV_ID}",
    "env.num_workers=2",
    "env.num_envs=4",
    "policy.num_eval_policies=2",
    "routing.type=node_affinity",
    "engine.total_env_steps=2000",
    "engine.rollout_length=16",
    "engine.final_evaluation_episodes=0",
    "algorithm.num_epochs=1",
    "algorithm.minibatch_size=32",
    "cluster.restart_backoff_seconds=0.1",
    "cluster.start_timeout_seconds=120",
)
"""A run that is over soon and whose every step can be told from all others."""

FULL = (*QUIET, f"env.id={ENV_ID}", "env.kwargs.shows_stamps=false", "env.num_envs=16")
"""A run as long as the preset's, of environments that obey orders and show CartPole's values only.

It has four times as many sub-environments, so that most of its time goes into training. Without a
fault its policy is as good: 500.0 over 100 episodes with the seeds 0, 1 and 2.
"""

LATEST_SHARE = 0.95
"""Of the calls of a run that goes well: the fault comes no later."""

MAX_DELAY_SECONDS = 0.05
SECONDS_TO_SETTLE = 20.0
"""Until calls that failed are off the books, and processes that were killed are gone."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        kind: Of the fault.
        seed: Of the moment, of the victim, and of the run.
        folder: Empty; everything is written there.
        settings: Of the run: `SHORT`, or those of a full run, and where it runs.
        cluster: What it runs on, for faults that concern nodes.
    """

    kind: FaultKind
    seed: int
    folder: Path
    settings: Sequence[str] = SHORT
    cluster: RemovesNodes | None = None

    def run(self) -> Evidence:
        """Train with the fault and return what was seen, whatever came of it."""
        chance = random.Random(f"{self.kind.name} {self.seed}")  # noqa: S311  no secret
        config = self._config(chance)
        has_stamps = config.env_configs[0].kwargs.get("shows_stamps", True)
        seen = Evidence(self.kind, config, _moment(config, chance), CallRecords())
        folder = RunFolder.create(config.logging.folder, config.name, datetime.now().astimezone())
        folder.write_config(config_yaml(config))
        learner = partial(RecordingLearner, self._updates_path, has_stamps)
        replica = partial(ObedientReplica, self._steps_folder)
        try:
            with (
                RunLock(folder.path),
                mock.patch(LEARNER, learner),
                mock.patch(REPLICA, replica),
            ):
                seen.result = _WatchedRun(config, folder, self._scene(chance), seen).execute()
        except Exception as error:  # noqa: BLE001 - it is told of with what was found
            seen.error = error
        seen.rows = _read_rows(folder.metrics_path)
        seen.trained = list(read_trained(self._updates_path))
        seen.logs = list(read_logs(self._steps_folder))
        seen.living_process_ids = _wait_until_gone(seen.records)
        return seen

    @property
    def _steps_folder(self) -> Path:
        return self.folder / "steps"

    @property
    def _updates_path(self) -> Path:
        return self.folder / "updates.jsonl"

    def _config(self, chance: random.Random) -> RunConfig:
        self._steps_folder.mkdir(parents=True)
        settings = [*self.settings, *self.kind.settings(chance), f"seed={self.seed}"]
        settings.append(f"env.kwargs.folder={self._steps_folder}")
        settings.append(f"env.kwargs.num_padding_values={self.kind.num_padding_values}")
        return load_config(PRESET, [*settings, f"logging.folder={self.folder / 'runs'}"])

    def _scene(self, chance: random.Random) -> Callable[[Assembly], Scene]:
        return lambda assembly: Scene(assembly, chance, self.cluster, self._steps_folder)


def _moment(config: RunConfig, chance: random.Random) -> FaultMoment:
    num_calls = 2 * config.engine.total_env_steps // config.env_configs[0].num_envs
    return FaultMoment(
        chance.randint(1, int(LATEST_SHARE * num_calls)), chance.uniform(0.0, MAX_DELAY_SECONDS)
    )


class _WatchedRun(TrainingRun):
    """A run whose calls are counted, and in which the fault happens."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        create_scene: Callable[[Assembly], Scene],
        seen: Evidence,
    ) -> None:
        super().__init__(config, folder, Console(quiet=True))
        self._create_scene = create_scene
        self._seen = seen

    def _train(self, assembly: Assembly) -> tuple[bool, dict[str, Any]]:
        seen, moment = self._seen, self._seen.moment
        environments, policies = assembly.environments, assembly.policies
        for handle in (*environments.handles(), *policies.handles(), policies.learner):
            seen.records.watch(handle)
        seen.records.watch_runtime(assembly.runtime)
        for pool in policies.pools.values():
            self._count_requests(pool)
        scene = self._create_scene(assembly)
        moment.watch(assembly.ledger, lambda: seen.kind.inject(scene))
        try:
            trained = super()._train(assembly)
        finally:
            moment.end()
            names = {life.worker_id for life in seen.records.lives}
            _wait_until(lambda: not any(assembly.ledger.loads(names)))
            seen.loads = {name: assembly.ledger.load(name) for name in names}
        return trained

    def _count_requests(self, pool: PolicyPool) -> None:
        act = pool.act

        def counted(env_id: str, observation: Task[ObservationBatch]) -> Task[ActionBatch]:
            self._seen.num_requests += 1
            return act(env_id, observation)

        pool.act = counted  # type: ignore[method-assign]


def _read_rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def _wait_until_gone(records: CallRecords) -> list[int]:
    """Return the processes of workers that do not end."""

    def living() -> list[int]:
        ids = [life.process_id for life in records.lives if life.process_id > 0]
        return [process_id for process_id in ids if Path(f"/proc/{process_id}").exists()]

    _wait_until(lambda: not living())
    return living()


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_TO_SETTLE
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
