"""An error becomes one message on stderr and an exit code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer

from rlightning.cli.error_border import reports_errors, show_tracebacks
from rlightning.engine.kept_checkpoint import GO_ON
from rlightning.errors import ConfigError


@pytest.fixture(autouse=True)
def _no_tracebacks_afterwards() -> Iterator[None]:
    yield
    show_tracebacks(False)


def _end_with(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    @reports_errors
    def command() -> None:
        raise error

    with pytest.raises(typer.Exit) as caught:
        command()
    printed = capsys.readouterr()
    assert printed.out == ""
    return caught.value.exit_code, printed.err


def test_an_error_of_ours_is_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    error = ConfigError("expected [bold]1[/bold], got 2;\n  set 1")
    assert _end_with(error, capsys) == (2, f"error: {error}\n")


def test_an_unexpected_error_says_how_to_see_more(capsys: pytest.CaptureFixture[str]) -> None:
    code, message = _end_with(ZeroDivisionError("by zero"), capsys)
    assert code == 1
    assert message.startswith("error: unexpected ZeroDivisionError: by zero; add --debug")
    assert "Traceback" not in message


def test_a_traceback_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    show_tracebacks(True)
    _, message = _end_with(ConfigError("wrong"), capsys)
    assert "Traceback (most recent call last)" in message
    assert message.endswith("error: wrong\n")


def test_an_error_of_a_run_with_a_checkpoint_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    interrupt = KeyboardInterrupt()
    interrupt.add_note("raised in worker 'env-0'")
    interrupt.add_note(f"{GO_ON}runs/boat")
    code, message = _end_with(interrupt, capsys)
    assert code == 130
    assert message == f"error: interrupted at once\n{GO_ON}runs/boat\n"


@pytest.mark.parametrize("signal", [typer.Exit(4), typer.Abort(), BrokenPipeError()])
def test_signals_of_the_command_line_itself_pass(signal: Exception) -> None:
    @reports_errors
    def command() -> None:
        raise signal

    with pytest.raises(type(signal)) as caught:
        command()
    assert caught.value is signal


def test_an_answer_passes() -> None:
    assert reports_errors(lambda number: number + 1)(2) == 3
