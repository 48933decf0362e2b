"""An evaluation whose workers die begins anew; a configuration says how often."""

from __future__ import annotations

from typing import Any

import pytest

from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine import evaluation
from rlightning.engine.assembly import AssemblyPlan, assemble
from rlightning.engine.evaluation import evaluate_weights
from rlightning.engine.evaluation_engine import EvaluationEngine, EvaluationResult
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_state import RunState
from rlightning.errors import NoEvalPolicyError, WorkerDiedError
from rlightning.metrics.recorder import Recorder


class Deadly(EvaluationEngine):
    """Lets workers die before the first so many evaluations."""

    num_deaths = 0
    is_deadly_to_replicas = False

    def run(self, num_episodes: int) -> EvaluationResult:
        if Deadly.num_deaths:
            Deadly.num_deaths -= 1
            policies, environments = self._policies.handles(), self._environments.handles()
            for victim in policies if Deadly.is_deadly_to_replicas else environments:
                victim.kill()
        return super().run(num_episodes)


@pytest.fixture
def config() -> RunConfig:
    return load_config("cartpole-ppo", ["cluster.mode=threads", "cluster.max_restarts=2"])


@pytest.fixture
def state(config: RunConfig) -> dict[str, Any]:
    plan = AssemblyPlan(config.env_configs, rollout_length=8, seed=0)
    with assemble(config, plan) as assembly:
        progress = TrainingProgress(1)
        return RunState(assembly.environments, assembly.policies, progress, Recorder([])).capture()


@pytest.fixture
def undisturbed(config: RunConfig, state: dict[str, Any]) -> EvaluationResult:
    return evaluate_weights(config, state, 4)


def deadly(monkeypatch: pytest.MonkeyPatch, num_deaths: int, *, to_replicas: bool) -> None:
    monkeypatch.setattr(Deadly, "num_deaths", num_deaths)
    monkeypatch.setattr(Deadly, "is_deadly_to_replicas", to_replicas)
    monkeypatch.setattr(evaluation, "EvaluationEngine", Deadly)


@pytest.mark.parametrize("to_replicas", [False, True])
def test_it_returns_what_it_would_have_without_the_deaths(
    config: RunConfig,
    state: dict[str, Any],
    undisturbed: EvaluationResult,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    to_replicas: bool,
) -> None:
    deadly(monkeypatch, num_deaths=2, to_replicas=to_replicas)
    result = evaluate_weights(config, state, 4)
    assert (result.returns, result.lengths) == (undisturbed.returns, undisturbed.lengths)
    assert (undisturbed.num_repeats, result.num_repeats) == (0, 2)
    assert caplog.text.count("begins anew") == 2


@pytest.mark.parametrize(
    ("to_replicas", "error"), [(False, WorkerDiedError), (True, NoEvalPolicyError)]
)
def test_one_death_too_many_is_an_error(
    config: RunConfig,
    state: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    to_replicas: bool,
    error: type[Exception],
) -> None:
    deadly(monkeypatch, num_deaths=3, to_replicas=to_replicas)
    with pytest.raises(error):
        evaluate_weights(config, state, 4)
