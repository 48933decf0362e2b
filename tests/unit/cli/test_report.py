from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import matplotlib.image
import pytest

from rlightning.cli.report import write_report
from rlightning.cli.report_page.page import page
from rlightning.cli.report_page.run_data import read_run
from rlightning.engine.evaluation_engine import EvaluationResult
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_folder import RunFolder
from rlightning.engine.stored_evaluation import StoredEvaluation
from rlightning.errors import RunFolderError
from rlightning.metrics.json_lines import JsonLines
from rlightning.metrics.node_traffic import NodeTraffic
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report

PICTURE_NAMES = {"learning_curve", "losses", "throughput", "time_shares", "task_counts"}


def make_run(root, reports, config="engine:\n  total_env_steps: 8000\n"):
    folder = RunFolder.create(root, "cartpole", datetime(2025, 1, 1, tzinfo=UTC))
    folder.write_config(config)
    with Recorder([JsonLines(folder.metrics_path)]) as recorder:
        for report in reports:
            recorder.record(report)
    return folder


class PageReader(HTMLParser):
    """Collects tags, addresses and visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "srcset", "href")]

    def handle_data(self, data):
        self.text.append(data.strip())


def read_page(html):
    reader = PageReader()
    reader.feed(html)
    return reader


def words_of(folder):
    """Return the text of the page, without drawing the pictures, which takes long."""
    return read_page(page(read_run(folder), [])).text


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = make_run(
        tmp_path_factory.mktemp("runs"), [create_iteration_report(n) for n in (1, 2, 3)]
    )
    return folder, write_report(folder.path)


def test_a_report_is_one_page_that_needs_nothing_else_and_pictures_beside_it(reported):
    folder, path = reported

    assert path == folder.report_path / "report.html"
    assert {png.stem for png in folder.report_path.glob("*.png")} == PICTURE_NAMES
    reader = read_page(path.read_text())
    assert reader.tags.count("img") == len(PICTURE_NAMES)
    assert "script" not in reader.tags
    assert "link" not in reader.tags
    assert all(address.startswith("data:image/png;base64,") for address in reader.addresses)
    assert not re.search(r"url\(|@import|https?:", path.read_text())


def test_every_picture_shows_something(reported):
    for png in reported[0].report_path.glob("*.png"):
        pixels = matplotlib.image.imread(png)
        assert min(pixels.shape[:2]) > 200, png
        assert len({tuple(pixel) for pixel in pixels[::3, ::3].reshape(-1, 4).tolist()}) > 5, png


def test_the_page_tells_the_numbers_in_words_and_tables(tmp_path):
    folder = make_run(tmp_path, [create_iteration_report(n) for n in (1, 2)])
    text = words_of(folder)

    # 2000 of 8000 steps; returns 10, 14, 20 and 24 with mean 17 and deviation sqrt(29)
    for shown in ("2 000 (25%)", "17.0 ± 5.385", "least-loaded", "100.0%", "policy_loss"):
        assert shown in text, shown


def test_a_run_with_a_single_iteration_and_no_episode_has_a_report(tmp_path):
    folder = make_run(tmp_path, [create_iteration_report(1, episodes=(), algorithm={"kl": 0.1})])
    write_report(folder.path)

    assert "no episode has ended" in words_of(folder)
    assert not (folder.report_path / "learning_curve.png").exists()


def test_gaps_half_lines_and_repeated_iterations_do_no_harm(tmp_path):
    reports = [
        create_iteration_report(1, algorithm={"kl": float("nan")}, tasks={}, time_shares={}),
        create_iteration_report(4, evaluation={"return_mean": 3.0}),
        create_iteration_report(4, algorithm={"kl": 0.125}),
    ]
    folder = make_run(tmp_path, reports)
    with folder.metrics_path.open("a") as file:
        file.write('{"iteration": 5, "env_st')
    write_report(folder.path)

    text = words_of(folder)

    assert "Lines of the metrics that could not be read: 1." in text
    assert "0.125" in text


def test_a_run_without_losses_tasks_and_times_has_only_the_other_pictures(tmp_path):
    bare = create_iteration_report(1, algorithm={}, tasks={}, time_shares={}, router_counts={})
    folder = make_run(tmp_path, [bare])
    write_report(folder.path)

    assert {png.stem for png in folder.report_path.glob("*.png")} == {
        "learning_curve",
        "throughput",
    }


def test_several_environments_are_told_apart(tmp_path):
    environments = {"env-0": "CartPole-v1", "env-1": "Pendulum-v1"}
    losses = {"CartPole-v1/kl": 0.1, "Pendulum-v1/kl": 0.2}
    folder = make_run(
        tmp_path,
        [create_iteration_report(1, environments=environments, algorithm=losses)],
    )
    write_report(folder.path)

    text = words_of(folder)
    assert "last return CartPole-v1" in text
    assert "last return Pendulum-v1" in text
    assert "CartPole-v1/kl" in text


def test_many_workers_and_replicas_still_fit(tmp_path):
    tasks = {(f"env-{w}", f"eval-{r}"): w + r for w in range(40) for r in range(30)}
    folder = make_run(
        tmp_path,
        [create_iteration_report(1, tasks=tasks, episodes=(), algorithm={}, time_shares={})],
    )
    write_report(folder.path)

    assert (folder.report_path / "task_counts.png").exists()


@pytest.mark.parametrize("config", ["", "a: [", "engine: 3\n", "x: <script>alert(1)</script>\n"])
def test_strange_settings_are_shown_as_text_and_never_run(tmp_path, config):
    folder = make_run(tmp_path, [create_iteration_report(1)], config)

    assert "script" not in read_page(page(read_run(folder), [])).tags
    assert config.strip() in words_of(folder)


def test_a_second_report_takes_the_place_of_the_first(tmp_path):
    bare = create_iteration_report(1, episodes=(), algorithm={}, tasks={}, time_shares={})
    folder = make_run(tmp_path, [bare])
    first = write_report(folder.path).read_text()
    with Recorder([JsonLines(folder.metrics_path)]) as recorder:
        recorder.record(replace(bare, iteration=2, env_steps=2000, seconds=2.0))

    assert write_report(folder.path).read_text() != first


def test_a_run_without_metrics_is_one_clear_error(tmp_path):
    folder = make_run(tmp_path, [])

    with pytest.raises(RunFolderError, match="expected at least one iteration"):
        write_report(folder.path)


def test_metrics_that_cannot_be_read_are_one_clear_error(tmp_path):
    folder = make_run(tmp_path, [])
    folder.metrics_path.unlink()
    folder.metrics_path.mkdir()

    with pytest.raises(RunFolderError, match="cannot read"):
        write_report(folder.path)


def test_a_report_that_cannot_be_written_is_one_clear_error(tmp_path):
    bare = create_iteration_report(1, episodes=(), algorithm={}, tasks={}, time_shares={})
    folder = make_run(tmp_path, [bare])
    folder.report_path.write_text("in the way")

    with pytest.raises(RunFolderError, match="cannot write"):
        write_report(folder.path)


def test_the_final_evaluation_stands_among_the_facts(tmp_path):
    folder = make_run(tmp_path, [create_iteration_report(1)])
    assert "final evaluation" not in words_of(folder)
    progress = TrainingProgress(total_env_steps=100)
    result = EvaluationResult(returns=(480.0, 500.0), lengths=(480, 500))
    StoredEvaluation.of(result, progress, seed=7, deterministic=True).write(folder.evaluation_path)

    words = words_of(folder)
    assert words[words.index("final evaluation") + 1].startswith("490")
    assert words[words.index("final evaluation") + 1].endswith("over 2 episodes")


def test_faults_are_added_up_over_a_resumed_run_and_absent_without_any(tmp_path):
    """A count begins anew where the run was resumed: 2, then 1 more."""
    counts = [{}, {"restarts/env-0": 2}, {}, {"restarts/env-0": 1}]
    reports = [create_iteration_report(n + 1, faults=faults) for n, faults in enumerate(counts)]
    words = words_of(make_run(tmp_path / "faulty", reports))
    table = words.index("Faults")
    cells = [word for word in words[table + 1 :] if word]
    assert cells[:6] == ["count", "what", "worker", "3", "restarts", "env-0"]
    assert "Faults" not in words_of(make_run(tmp_path / "sound", [create_iteration_report(1)]))


def test_requests_between_nodes_are_added_up_over_the_run(tmp_path):
    traffic = {("n1", "n1"): NodeTraffic(3, 30), ("n1", "n2"): NodeTraffic(1, 1500)}
    reports = [create_iteration_report(i, traffic=traffic) for i in (1, 2)]
    words = words_of(make_run(tmp_path, reports))
    begin = words.index("Requests between nodes")
    cells = [word for word in words[begin : begin + 40] if word]
    assert cells[6:18] == [
        *("6", "75.00%", "60", "stayed", "n1", "n1"),
        *("2", "25.00%", "3 000", "crossed", "n1", "n2"),
    ]


def test_a_single_node_needs_no_table_of_requests_between_nodes(tmp_path):
    traffic = {("local", "local"): NodeTraffic(3, 30)}
    words = words_of(make_run(tmp_path, [create_iteration_report(traffic=traffic)]))
    assert "Requests between nodes" not in words
