from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

from rlightning.metrics.live_panel import LivePanel
from rlightning.metrics.node_traffic import NodeTraffic
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report

HIDE_CURSOR = "\x1b[?25l"
SHOW_CURSOR = "\x1b[?25h"


@pytest.fixture
def terminal():
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        width=100,
        height=40,
        legacy_windows=False,
        _environ={"TERM": "xterm"},
    )


def shown(panel):
    console = Console(width=100, color_system=None, file=io.StringIO())
    console.print(panel.render())
    return console.file.getvalue().replace("\u00a0", " ")


def test_the_panel_answers_how_far_how_well_how_fast_where_and_by_whom(terminal):
    panel = LivePanel(terminal, 10_000, "cartpole-20250101-000000")
    with Recorder([panel]) as recorder:
        assert "waiting for the first iteration" in shown(panel)
        for iteration in (1, 2, 3):
            recorder.record(create_iteration_report(iteration))
        text = shown(panel)

    assert "cartpole-20250101-000000" in text
    assert "30%   3 000 of 10 000 steps" in text
    assert "0:00:07 left" in text
    assert "22.0 ± " in text
    assert "1 000 steps/s" in text
    assert "environments 50%" in text
    assert "eval-0 62%" in text


def test_several_environments_have_a_line_each(terminal):
    panel = LivePanel(terminal, 10_000)
    environments = {"env-0": "CartPole-v1", "env-1": "Pendulum-v1"}
    with Recorder([panel]) as recorder:
        recorder.record(create_iteration_report(environments=environments))

    assert "CartPole-v1 10.0" in shown(panel)
    assert "Pendulum-v1 14.0" in shown(panel)


def test_faults_have_a_line_only_when_there_are_some(terminal):
    panel = LivePanel(terminal, 10_000)
    faults = {"restarts/env-0": 2, "restarts/eval-1": 1, "dropped_steps/env-0": 64}
    with Recorder([panel]) as recorder:
        recorder.record(create_iteration_report(1))
        assert "faults" not in shown(panel)
        recorder.record(create_iteration_report(2, faults=faults))

    assert "3 restarts (env-0, eval-1)   64 dropped steps (env-0)" in shown(panel)


def test_an_evaluation_and_missing_returns_are_shown_in_words(terminal):
    panel = LivePanel(terminal, 10_000)
    with Recorder([panel]) as recorder:
        recorder.record(create_iteration_report(episodes=(), evaluation={"return_mean": 9.5}))

    assert "no episode has ended yet" in shown(panel)
    assert "return_mean 9.5" in shown(panel)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_the_terminal_is_given_back_after_ctrl_c_and_errors(terminal, error):
    def interrupted_run():
        with Recorder([LivePanel(terminal, 10_000)]) as recorder:
            recorder.record(create_iteration_report())
            raise error

    with pytest.raises(error):
        interrupted_run()

    written = terminal.file.getvalue()
    assert written.count(HIDE_CURSOR) == 1
    assert written.rindex(SHOW_CURSOR) > written.rindex(HIDE_CURSOR)


def test_another_thread_may_close_it_and_closing_twice_is_harmless(terminal):
    panel = LivePanel(terminal, 10_000)
    panel.start()
    watchdog = threading.Thread(target=panel.close)
    watchdog.start()
    watchdog.join()
    panel.close()

    assert terminal.file.getvalue().count(SHOW_CURSOR) == 1


def test_requests_between_nodes_have_a_line_of_their_own(terminal):
    panel = LivePanel(terminal, 10_000)
    with Recorder([panel]) as recorder:
        recorder.record(create_iteration_report(traffic={("a", "a"): NodeTraffic(8, 800)}))
        assert "at home" not in shown(panel), "nothing can leave a single node"
        traffic = {("a", "a"): NodeTraffic(1500, 9), ("a", "b"): NodeTraffic(500, 4096)}
        recorder.record(create_iteration_report(traffic=traffic))

    assert "75.00% of the requests stayed at home   2 nodes" in shown(panel)
    assert "500 crossed with 4 096 bytes" in shown(panel)
