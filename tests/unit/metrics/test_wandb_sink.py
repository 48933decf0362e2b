from __future__ import annotations

import sys
from types import ModuleType

import pytest

from rlightning.errors import MissingExtraError
from rlightning.metrics.recorder import Recorder
from rlightning.metrics.wandb_sink import WandbSink
from rlightning.testing.iteration_reports import create_iteration_report


class FakeWandb(ModuleType):
    """Stands in for the package: keeps how the run was opened and what was logged."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.settings: dict = {}
        self.logged: list[dict] = []
        self.step_metric = ""
        self.num_finished = 0

    def init(self, **settings):
        self.settings = settings
        return self

    def define_metric(self, name, step_metric):
        self.step_metric = step_metric

    def log(self, values):
        self.logged.append(values)

    def finish(self):
        self.num_finished += 1


@pytest.fixture
def wandb(monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def test_numbers_are_logged_over_environment_steps(wandb, tmp_path):
    sink = WandbSink("project", tmp_path / "run-20250101-000000", {"seed": 3})
    with Recorder([sink]) as recorder:
        recorder.record(create_iteration_report(2, episodes=()))

    assert wandb.settings["project"] == "project"
    assert wandb.settings["config"] == {"seed": 3}
    assert wandb.logged[0][wandb.step_metric] == 2000
    assert wandb.logged[0]["losses/kl"] == 0.004
    assert "rollout/episode_return_mean" not in wandb.logged[0]
    assert wandb.num_finished == 1


def test_a_resumed_run_goes_on_under_the_same_id(wandb, tmp_path):
    ids = []
    for _ in range(2):
        with Recorder([WandbSink("project", tmp_path / "run-1", {})]):
            ids.append((wandb.settings["id"], wandb.settings["resume"]))

    assert ids == [("run-1", "allow")] * 2


def test_without_the_package_the_error_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'rlightning\[wandb\]'"):
        WandbSink("project", tmp_path, {})
