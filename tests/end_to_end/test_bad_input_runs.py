"""Runs that cannot be found, read, written or continued are refused and stay as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run as run_program
from typing import Any

import pytest
import torch

MORE_STEPS = "engine.total_env_steps=200"


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 64 KiB."""
    place = folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or run_program(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system that can become full")
    yield place
    run_program(["umount", str(place)], check=True)


@pytest.fixture
def read_only(folder: Path) -> Iterator[Path]:
    """Mount a file system that nobody may write."""
    place = folder / "read-only"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(place)]
    if os.geteuid() != 0 or run_program(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system that is read-only")
    yield place
    run_program(["umount", str(place)], check=True)


def _newest(run: Path) -> Path:
    return max((run / "checkpoints").glob("*.pt"))


def _contents(run: Path) -> dict[Path, bytes]:
    files = (path for path in run.rglob("*") if path.is_file() and path.name != "lock")
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize("command", ["resume", "evaluate", "report"])
def test_a_run_that_does_not_exist_is_refused(
    refused: Callable[..., Any], folder: Path, command: str
) -> None:
    failure = refused(command, "nowhere")
    assert failure.code == 3
    assert "there is no run in 'runs'; give the path of a run" in failure.message
    assert not list(folder.iterdir())


@pytest.mark.parametrize("command", ["resume", "evaluate", "report"])
def test_a_typo_in_a_run_is_told_with_the_nearest_name(
    refused: Callable[..., Any], tiny_run: Path, command: str
) -> None:
    failure = refused(command, "cartpol-ppo")
    assert failure.code == 3
    assert "(did you mean 'cartpole-ppo'?)" in failure.message


def test_a_run_folder_below_a_file_cannot_be_made(
    refused_training: Callable[..., Any], folder: Path
) -> None:
    (folder / "file").write_text("")
    failure = refused_training("logging.folder=file/runs")
    assert failure.code == 3
    assert "Not a directory; choose another place with 'logging.folder=PATH'" in failure.message
    assert failure.message.count("file/runs") == 1


def test_a_run_folder_on_a_read_only_file_system_cannot_be_made(
    refused_training: Callable[..., Any], read_only: Path
) -> None:
    failure = refused_training(f"logging.folder={read_only}/runs")
    assert failure.code == 3
    assert "Read-only file system; choose another place" in failure.message


@pytest.mark.parametrize("command", ["resume", "evaluate"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:7000] + bytes(255 - byte for byte in data[7000:7016]) + data[7016:],
        lambda data: b"",
        lambda data: b"not a checkpoint",
    ],
    ids=["cut", "changed", "empty", "other"],
)
def test_a_damaged_checkpoint_is_refused_and_the_newest_good_one_named(
    refused: Callable[..., Any],
    done: Callable[..., str],
    tiny_run: Path,
    command: str,
    damage: Callable[[bytes], bytes],
) -> None:
    damaged = _newest(tiny_run)
    damaged.write_bytes(damage(damaged.read_bytes()))
    before = _contents(tiny_run)
    failure = refused(command, "latest")
    assert failure.code == 3
    assert f"{damaged.name} is damaged" in failure.message
    good = failure.message.partition("the newest good one is ")[2].partition(":")[0]
    assert "iteration-00000004" in good
    assert _contents(tiny_run) == before
    if command == "resume":
        assert "158 steps" in done("resume", good)


def test_without_a_good_checkpoint_a_run_has_to_start_anew(
    refused: Callable[..., Any], tiny_run: Path
) -> None:
    for path in (tiny_run / "checkpoints").iterdir():
        path.write_bytes(b"")
    failure = refused("resume", "latest")
    assert failure.code == 3
    assert "there is no other good checkpoint in its folder: start the run anew" in failure.message


def test_a_checkpoint_of_something_else_is_refused(
    refused: Callable[..., Any], tiny_run: Path
) -> None:
    torch.save({"format_version": 2, "payload": {"weights": 1}}, _newest(tiny_run))
    failure = refused("resume", "latest")
    assert failure.code == 3
    assert "got none of kinds, learner, environments, progress" in failure.message


@pytest.mark.parametrize("mode", ["inline", "threads"])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("env.id=Acrobot-v1", "the spaces box_6-discrete_3-e65cac8c, got one of box_4-discrete_2"),
        ("env.num_workers=1", "expected states of env-0, got env-0, env-1"),
        ("policy.hidden_sizes=[8]", "of shape (8, 4) and type torch.float32, got (4, 4)"),
        ("policy.share_trunk=true", "undo changed settings of policy"),
    ],
)
def test_a_checkpoint_of_another_environment_or_network_changes_nothing(
    refused: Callable[..., Any], tiny_run: Path, mode: str, setting: str, message: str
) -> None:
    before = _contents(tiny_run)
    failure = refused("resume", "latest", setting, f"cluster.mode={mode}", MORE_STEPS)
    assert failure.code == 3
    assert message in failure.message
    assert _contents(tiny_run) == before


def test_metrics_that_cannot_be_written_are_named(
    refused: Callable[..., Any], tiny_run: Path
) -> None:
    (tiny_run / "metrics.jsonl").unlink()
    (tiny_run / "metrics.jsonl").mkdir()
    failure = refused("resume", "latest", MORE_STEPS)
    assert failure.code == 3
    assert "metrics.jsonl: Is a directory; " in failure.message


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_a_disk_that_is_full_keeps_the_last_checkpoint(
    refused_training: Callable[..., Any], done: Callable[..., str], small_disk: Path, mode: str
) -> None:
    failure = refused_training(
        f"logging.folder={small_disk}", "engine.total_env_steps=100_000",
        "engine.keep_checkpoints=100", f"cluster.mode={mode}",
    )  # fmt: skip
    assert failure.code == 3
    assert "but the disk is full; " in failure.message
    (run,) = small_disk.iterdir()
    *older, kept = sorted((run / "checkpoints").iterdir())
    assert f"the last checkpoint {kept.name} is kept" in failure.message
    for path in older:
        path.unlink()
    words = ["engine.total_env_steps=200", "engine.keep_checkpoints=1"]
    done("resume", failure.message.split()[-1], *words)
    assert _newest(run).name > kept.name


@pytest.mark.parametrize("mode", ["inline", "threads"])
def test_metrics_on_a_disk_that_is_full_keep_the_last_checkpoint(
    refused_training: Callable[..., Any], done: Callable[..., str], small_disk: Path, mode: str
) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(28_000))
    failure = refused_training(
        f"logging.folder={small_disk}/runs", "engine.total_env_steps=100_000",
        "engine.checkpoint_interval=8", f"cluster.mode={mode}",
    )  # fmt: skip
    assert failure.code == 3
    assert "metrics.jsonl' to record, got OSError: [Errno 28] No space left" in failure.message
    filler.unlink()
    (run,) = (small_disk / "runs").iterdir()
    assert _newest(run).name.startswith("iteration-00000008")
    done("resume", failure.message.split()[-1], "engine.total_env_steps=300")
    assert _newest(run).name.startswith("iteration-00000010")
