"""`rlightning plan`: a table, the share that crosses, warnings; nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rlightning.cli.error_border import show_tracebacks
from rlightning.cli.main import app
from rlightning.cli.plan_table import ids_text
from rlightning.config.cluster_config import ClusterConfig
from rlightning.engine.cluster_nodes import find_nodes
from rlightning.errors import PlacementError
from rlightning.placement.request import PlacementRequest, Pool


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["plan", *arguments])
    show_tracebacks(False)
    return result


def _row(result: Result, node_id: str) -> list[str]:
    line = next(line for line in result.stdout.splitlines() if f" {node_id} " in line)
    return [cell.strip() for cell in line.split("│")[1:-1]]


def test_each_node_has_a_row_with_who_runs_there_and_what_stays_free() -> None:
    result = _run(
        "cartpole-ppo", "env.num_workers=8", "policy.num_eval_policies=4",
        "cluster.placement.eval.gpus=1/9", "--nodes", "2xcpu=8,gpu=1,memory=4GiB",
    )  # fmt: skip
    assert result.exit_code == 0
    assert _row(result, "node-0") == [
        "node-0", "1: 0", "2: 0-1", "4: 0-3", "1 of 8", "7/9 of 1", "4 GiB of 4 GiB",
    ]  # fmt: skip
    assert _row(result, "node-1")[1:4] == ["-", "2: 2-3", "4: 4-7"]
    assert "cross nodes with routing.type=simple: 50 %" in result.stdout
    assert "warning: routing.type=simple sends 50 %" in result.stdout


def test_nodes_may_be_given_several_times() -> None:
    result = _run("cartpole-ppo", "--nodes", "1xcpu=4", "--nodes", "1xcpu=8")
    assert _row(result, "node-1")[0] == "node-1"


def test_without_nodes_the_plan_is_for_this_machine() -> None:
    result = _run("cartpole-ppo", "env.num_workers=1000")
    assert result.exit_code == 0
    assert _row(result, "local")[3] == "1000: 0-999"
    assert "take turns" in result.stdout
    assert "routing.type=simple: 0 %" in result.stdout


def test_a_plan_that_cannot_be_is_refused_with_an_exit_code() -> None:
    result = _run("cartpole-ppo", "--nodes", "1xcpu=4")
    assert result.exit_code == 2
    assert "missing in sum: 1 CPU" in result.stderr


def test_kinds_of_environments_are_told_of(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("env: [{id: A}, {id: B}]\nengine: {rollout_length: 64}\n")
    result = _run(str(path), "--nodes", "1xcpu=8")
    assert "2 kinds of environment blocks" in result.stdout


def test_a_machine_with_room_for_all_gives_no_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    found = find_nodes(ClusterConfig(), PlacementRequest((Pool((0,), (0,)),)))
    assert found.notes == ()
    assert found.nodes[0].cpus == 64


def test_a_backend_without_a_finder_asks_for_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlightning.engine.cluster_nodes.FINDERS", {})
    with pytest.raises(PlacementError, match="describe the nodes with --nodes"):
        find_nodes(ClusterConfig(), PlacementRequest(()))


def test_ids_are_shown_as_ranges() -> None:
    assert [ids_text(ids) for ids in ([], [3], [0, 1, 2, 5, 7, 8])] == [
        "-", "1: 3", "6: 0-2, 5, 7-8",
    ]  # fmt: skip
