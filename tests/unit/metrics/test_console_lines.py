from __future__ import annotations

import io

from rich.console import Console

from rlightning.metrics.console_lines import ConsoleLines
from rlightning.metrics.recorder import Recorder
from rlightning.testing.iteration_reports import create_iteration_report


def lines_of(reports):
    output = io.StringIO()
    with Recorder([ConsoleLines(Console(file=output, width=60), 100_000)]) as recorder:
        for report in reports:
            recorder.record(report)
    return output.getvalue().splitlines()


def test_one_iteration_is_one_line_with_units_however_narrow_the_output():
    lines = lines_of(create_iteration_report(n) for n in (1, 2))

    assert len(lines) == 2
    assert "iteration     1" in lines[0]
    assert "1%   1 000/100 000 steps" in lines[0]
    assert "0:01:39 left" in lines[0]
    assert "12.0 ± 2.0" in lines[0]
    assert "1 000 steps/s" in lines[0]
    assert "environments 50%" in lines[0]


def test_columns_stand_below_each_other():
    lines = lines_of(create_iteration_report(n) for n in (1, 99))

    bars = [[at for at, letter in enumerate(line) if letter == "|"] for line in lines]
    assert bars[0] == bars[1]


def test_before_the_first_episode_there_are_dashes():
    assert "- ± -" in lines_of([create_iteration_report(episodes=(), time_shares={})])[0]


def test_an_evaluation_is_added_to_its_line():
    line = lines_of([create_iteration_report(evaluation={"return_mean": 475.25})])[0]

    assert line.endswith("| evaluation return_mean 475.2")


def test_returns_of_several_environments_are_told_apart():
    environments = {"env-0": "CartPole-v1", "env-1": "Pendulum-v1"}
    line = lines_of([create_iteration_report(environments=environments)])[0]

    assert "CartPole-v1     10.0 ± 0.000" in line
    assert "Pendulum-v1     14.0 ± 0.000" in line


def test_lines_keep_their_distance_but_first_last_and_evaluations_are_shown() -> None:
    output = io.StringIO()
    lines = ConsoleLines(Console(file=output, width=200), 100, seconds_between_lines=2.0)
    for iteration in range(1, 11):
        report = create_iteration_report(
            iteration,
            env_steps=10 * iteration,
            seconds=0.5 * iteration,
            evaluation={"return_mean": 1.0} if iteration == 3 else None,
        )
        lines.record(report, report.as_row())
    shown = [int(line.split()[1]) for line in output.getvalue().splitlines()]
    assert shown == [1, 3, 7, 10]
