"""The one place where an error becomes a message and an exit code."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from rlightning.cli.exit_codes import exit_code_of
from rlightning.engine.kept_checkpoint import GO_ON
from rlightning.errors import RLightningError

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_is_debugging: ContextVar[bool] = ContextVar("is_debugging", default=False)


def show_tracebacks(is_wanted: bool) -> None:
    """Say whether errors of this invocation are shown with their traceback."""
    _is_debugging.set(is_wanted)


def reports_errors(command: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Let a command end with one message on stderr and an exit code instead of a traceback."""

    @functools.wraps(command)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            _report(error)
            raise typer.Exit(exit_code_of(error)) from error

    return wrapper


def _report(error: BaseException) -> None:
    console = Console(stderr=True, soft_wrap=True)
    if _is_debugging.get():
        console.print("".join(traceback.format_exception(error)), markup=False, highlight=False)
    console.print("error:", style="bold red", end=" ")
    console.print(_message(error), markup=False, highlight=False)
    for note in getattr(error, "__notes__", ()):
        if note.startswith(GO_ON):
            console.print(note, markup=False, highlight=False)


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted at once"
    if isinstance(error, RLightningError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; add --debug to see where it comes from"
