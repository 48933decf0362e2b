from __future__ import annotations

import io
import sys
from datetime import UTC, datetime

import pytest
from rich.console import Console

from rlightning.config.loading import load_config
from rlightning.engine.outputs import create_recorder
from rlightning.engine.run_folder import RunFolder
from rlightning.errors import MissingExtraError
from rlightning.testing.iteration_reports import create_iteration_report


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return RunFolder.create(tmp_path, "boat", datetime(2026, 1, 2, tzinfo=UTC))


def record_one(folder: RunFolder, *settings: str) -> str:
    text = io.StringIO()
    config = load_config("cartpole-ppo", settings)
    with create_recorder(config, folder, Console(file=text)) as recorder:
        recorder.record(create_iteration_report())
    return text.getvalue()


def test_metrics_go_to_the_folder_and_the_screen(folder) -> None:
    shown = record_one(folder, "logging.live=lines")
    assert shown
    assert len(folder.metrics_path.read_text().splitlines()) == 1
    assert any(folder.tensorboard_path.iterdir())


def test_outputs_can_be_switched_off(folder) -> None:
    assert record_one(folder, "logging.live=off", "logging.tensorboard=false") == ""
    assert folder.metrics_path.exists()
    assert not folder.tensorboard_path.exists()


def test_a_service_that_is_not_installed_is_named(folder, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match="wandb"):
        record_one(folder, "logging.wandb=true", "logging.live=off")


def test_without_ray_a_run_on_ray_is_refused_with_the_extra_that_brings_it(
    folder, monkeypatch
) -> None:
    monkeypatch.delitem(sys.modules, "rlightning.runtime.ray.metrics_sink", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"rlightning\[ray\]"):
        record_one(folder, "cluster.backend=ray")
